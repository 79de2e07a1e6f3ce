// SPDX-License-Identifier: Apache-2.0
// Measures how fast tar shards come from a server, by the side of a bare download of the same ranges.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>

#include "remote_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr std::size_t small_bytes = 27'000, tiny_bytes = 4'000, least_bytes = 1'000;

Row cold_from_server(const RowSpec& spec, const Settings& settings, std::size_t record_bytes, bool shuffles) {
  RemoteJob job(settings, record_bytes);
  const Executor executor(settings.threads);
  const auto rate = [&](Timing timing) {
    timing.value = static_cast<double>(job.bytes()) * 1e-6 / timing.value;
    return timing;
  };
  std::uint64_t round = 0;
  Row row = compare(
      spec, settings,
      [&] {
        return rate(shuffles ? job.epoch(job.shuffled(++round), executor, RemoteJob::many_blocks)
                             : job.epoch(job.in_order(), executor));
      },
      [&] { return rate(job.bare()); });
  row.notes.push_back(job.note());
  return row;
}

}  // namespace

Row remote_cold_110k(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, value_bytes, false);
}
Row remote_cold_110k_blocks(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, value_bytes, true);
}
Row remote_cold_27k(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, small_bytes, false);
}
Row remote_cold_27k_blocks(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, small_bytes, true);
}
Row remote_cold_4k(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, tiny_bytes, false);
}
Row remote_cold_4k_blocks(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, tiny_bytes, true);
}
Row remote_cold_1k(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, least_bytes, false);
}
Row remote_cold_1k_blocks(const RowSpec& spec, const Settings& settings) {
  return cold_from_server(spec, settings, least_bytes, true);
}

Row remote_cpu_110k(const RowSpec& spec, const Settings& settings) {
  RemoteJob job(settings, value_bytes);
  const Executor executor(settings.threads);
  const auto seconds_a_gigabyte = [&](Timing timing) {
    timing.value = timing.cpu_s / (static_cast<double>(job.bytes()) * 1e-9);
    return timing;
  };
  // A ring of batches like the loader's.
  std::vector<std::byte> batches(ring_depth * batch_rows * value_bytes);
  std::vector<double> without;
  Row row = compare(
      spec, settings,
      [&] {
        // The client frees its memory while the bare loop runs, which keeps its own.
        job.epoch(job.in_order(), executor);
        return seconds_a_gigabyte(job.epoch(job.in_order(), executor));
      },
      [&] {
        without.push_back(seconds_a_gigabyte(job.bare()).value);
        return seconds_a_gigabyte(job.bare(batches));
      });
  row.notes.push_back(job.note());
  std::ranges::nth_element(without, without.begin() + static_cast<std::ptrdiff_t>(without.size() / 2));
  const double bare = without[without.size() / 2];
  row.notes.push_back(fmt::format("bare libcurl without the copy takes {:.3f} CPU s/GB, ours {:.2f} times as much",
                                  bare, row.ours / bare));
  return row;
}

}  // namespace penstock::bench
