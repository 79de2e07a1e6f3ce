// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../data.hpp"
#include "../plain_lmdb.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr std::uint64_t max_values = 500;

Row cold(const RowSpec& spec, const Settings& settings, std::uint64_t records, std::size_t bytes) {
  const Store store = value_store(settings, settings.quick ? 256 : records, bytes);
  const std::uint64_t values = settings.quick ? 64 : max_values;
  const std::filesystem::path file = data_file(store);
  const LmdbSource source({.path = store.folder.string(), .values = LmdbValues::raw});
  const auto hash = [](View<const std::uint8_t, 1> in, View<std::uint64_t, 0> out) {
    *out.data() = XXH3_64bits(in.data(), in.size());
  };
  // Each round has another order, which is the same for both sides.
  const auto pipeline = [&](std::uint64_t seed) {
    return from(source) | shuffle({.seed = seed}) | take(values) |
           map("image", hash, {.name = "hash", .out = "hash", .shape = Shape{}}) | select_fields({"hash"}) |
           batch(batch_rows);
  };
  const double payload = static_cast<double>(values * bytes);
  std::uint64_t checksum = 0;
  std::vector<double> read_by_ours, read_by_plain;  // bytes read from the disk per byte of the values
  // Empties the page cache, reads, and proves that the page cache was empty.
  const auto proved = [&](std::vector<double>& amplification, auto&& read) {
    drop_cache(file);
    const std::uint64_t before = disk_bytes_read();
    Timing timing = read();
    timing.cpu_s = 0;
    amplification.push_back(static_cast<double>(disk_bytes_read() - before) / payload);
    if (amplification.back() < 0.95 && !settings.quick)  // files of a folder in memory can't be removed from memory
      throw std::runtime_error(
          fmt::format("{}: only {:.0f} % of the values came from the disk: the page cache of {} "
                      "could not be emptied, so nothing can be said about cold reads",
                      spec.name, 100 * amplification.back(), file.string()));
    timing.value = static_cast<double>(values) / timing.value;
    return timing;
  };
  std::uint64_t ours_round = 0, plain_round = 0;
  const Executor executor(settings.threads);
  Row row = compare(
      spec, settings,
      [&] {
        const Pipeline p = pipeline(++ours_round);
        return proved(read_by_ours, [&] { return time_loader(p, executor, settings.threads); });
      },
      [&] {
        const std::vector<std::uint64_t> order = order_of(pipeline(++plain_round), 1);
        const PlainStore plain(store.folder);
        const PlainReader reader(plain);
        return proved(read_by_plain, [&] {
          const Stopwatch watch;
          for (const std::uint64_t i : order) {
            const std::span<const std::byte> value = reader.get(i);
            checksum += XXH3_64bits(value.data(), value.size());
          }
          return Timing{watch.wall_s(), 0};
        });
      });
  row.notes.push_back(
      fmt::format("{}; {} a round; read from disk by ours {:.2f} x, by the plain gets {:.2f} x the "
                  "values' bytes (checksum {:04x})",
                  store.description, values, median(read_by_ours), median(read_by_plain), checksum & 0xffffu));
  return row;
}

}  // namespace

Row lmdb_cold_20k(const RowSpec& spec, const Settings& settings) { return cold(spec, settings, 65'536, 20'000); }
Row lmdb_cold_110k(const RowSpec& spec, const Settings& settings) { return cold(spec, settings, 12'000, 110'000); }

}  // namespace penstock::bench
