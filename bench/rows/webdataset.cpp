// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <stdexcept>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/webdataset.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../data.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Pipeline hashes_of(const Pipeline& records) {
  const auto hash = [](View<const std::uint8_t, 1> in, View<std::uint64_t, 0> out) {
    *out.data() = XXH3_64bits(in.data(), in.size());
  };
  return records | shuffle() | map("image", hash, {.name = "hash", .out = "hash", .shape = Shape{}}) |
         select_fields({"hash"}) | batch(batch_rows);
}

void check_first_batch(const Pipeline& ours, const Pipeline& theirs) {
  Loader a(ours, {.threads = 1, .epochs = 1}), b(theirs, {.threads = 1, .epochs = 1});
  const std::optional<Batch> first = a.next(), second = b.next();
  const TensorView x = first.value()["hash"], y = second.value()["hash"];
  if (x.bytes() != y.bytes() || std::memcmp(x.data, y.data, x.bytes()) != 0)
    throw std::runtime_error("the first batch of the shards differs from that of the LMDB");
}

}  // namespace

Row webdataset_vs_lmdb(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 256 : 12'000, epochs = settings.quick ? 2 : 8;
  const Store values = value_store(settings, records, value_bytes);
  const Store shards = shard_store(settings, records, value_bytes);
  const Pipeline ours =
      hashes_of(from(WebDataset{.path = shards.folder.string(), .fields = {{.name = "image", .extensions = "bin"}}}));
  const Pipeline theirs = hashes_of(from(Lmdb{.path = values.folder.string(), .values = LmdbValues::raw}));
  check_first_batch(ours, theirs);
  const Executor executor(settings.threads);
  const double gigabytes = static_cast<double>(records * epochs * value_bytes) * 1e-9;
  const auto rate = [&](const Pipeline& pipeline) {
    Timing timing = time_loader(pipeline, executor, settings.threads, epochs);
    timing.value = gigabytes / timing.value;
    return timing;
  };
  Row row = compare(
      spec, settings, [&] { return rate(ours); }, [&] { return rate(theirs); });
  row.notes.push_back(shards.description);
  return row;
}

}  // namespace penstock::bench
