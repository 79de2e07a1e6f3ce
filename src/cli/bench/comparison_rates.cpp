// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison_rates.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/error.hpp>

namespace penstock::cli {

namespace {

using Clock = std::chrono::steady_clock;

// A piece of work. Returns whether it succeeded.
using Work = std::function<bool()>;

// Returns how often per second the work of all threads together succeeds. Each thread calls `prepare` for work of its
// own. Only the work is timed.
double rate(unsigned threads, double seconds, const std::function<Work()>& prepare) {
  std::vector<double> rates(threads, 0.0);
  const auto duration = std::chrono::duration<double>(seconds);
  const auto measure = [&](unsigned t) {
    try {
      const Work work = prepare();
      const Clock::time_point start = Clock::now();
      Clock::time_point now = start;
      double done = 0;
      do {
        if (work()) ++done;
        now = Clock::now();
      } while (now < start + duration);
      rates[t] = done / std::chrono::duration<double>(now - start).count();
    } catch (const std::exception&) {  // this thread adds nothing to the rate
    }
  };
  try {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(measure, t);
  } catch (const std::system_error&) {  // fewer threads than in the run would have a different rate
    return 0;
  }
  double sum = 0;
  for (const double r : rates) sum += r;
  return sum;
}

std::uint64_t touch(const Sample& sample) {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < sample.schema().size(); ++slot) {
    const auto bytes = sample.bytes(slot);
    sum += XXH3_64bits(bytes.data(), bytes.size());
  }
  return sum;
}

double read_rate(const InputStore& store, const Pipeline& pipeline, unsigned threads, double seconds) {
  std::vector<std::uint64_t> order(std::min<std::uint64_t>(pipeline.size(), 65536));
  if (order.empty()) return 0;
  pipeline.fill(0, 0, order);
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> used{0};
  return rate(threads, seconds, [&]() -> Work {
    return [&, reader = std::make_shared<InputStore::Reader>(store.reader())] {
      try {
        used.fetch_add(touch(reader->read(order[next.fetch_add(1) % order.size()])), std::memory_order_relaxed);
        return true;
      } catch (const Error&) {
        return false;
      }
    };
  });
}

double memcpy_rate(const Pipeline& pipeline, unsigned threads, double seconds) {
  std::size_t row = 0;
  for (const Field& field : pipeline.schema()) {
    if (!field.shape.fixed()) return 0;
    row += field.shape.elements() * size_of(field.dtype);
  }
  static constexpr std::size_t ring = 16u << 20;  // larger than most caches, as batches are
  if (row == 0 || row > ring) return 0;
  return rate(threads, seconds, [&]() -> Work {
    return [from = std::vector<char>(ring, 1), to = std::vector<char>(ring, 2), at = std::size_t{0}, row]() mutable {
      if (at + row > ring) at = 0;
      std::memcpy(to.data() + at, from.data() + at, row);
      at += row;
      return true;
    };
  });
}

}  // namespace

ComparisonRates measure_limits(const InputStore& store, const Pipeline& pipeline, unsigned threads, double run_s) {
  const double seconds = std::clamp(run_s, 0.02, 0.2);
  return {store.is_remote() ? 0 : read_rate(store, pipeline, threads, seconds),
          memcpy_rate(pipeline, threads, seconds)};
}

}  // namespace penstock::cli
