// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <stdexcept>
#include <vector>

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

struct Job {
  explicit Job(const Settings& s)
      : settings(s),
        store(value_store(s, s.quick ? 256 : 12'000, value_bytes)),
        epochs(s.quick ? 2 : 8),
        source({.path = store.folder.string(), .values = LmdbValues::raw}),
        plain(store.folder),
        executor(s.threads) {}

  // Measures the rates of both sides, whose rows have `row_bytes` bytes.
  template <class Body>
  Row measure(const RowSpec& spec, const Pipeline& pipeline, std::size_t row_bytes, const Body& body) {
    const Ring ring(row_bytes, batch_rows, ring_depth);
    const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
    const double gigabytes = static_cast<double>(order.size() * value_bytes) * 1e-9;
    const auto rate = [&](Timing timing) {
      timing.value = gigabytes / timing.value;
      return timing;
    };
    const auto make = [&] {
      return
          [&, reader = PlainReader(plain)](std::uint64_t ticket) { body(reader.get(order[ticket]), ring.row(ticket)); };
    };
    check_first_batch(pipeline, ring, make);
    Row row = compare(
        spec, settings, [&] { return rate(time_loader(pipeline, executor, settings.threads, epochs)); },
        [&] { return rate(raw_loop(settings.threads, order.size(), make)); });
    row.notes.push_back(store.description);
    return row;
  }

  template <class Make>
  void check_first_batch(const Pipeline& pipeline, const Ring& ring, const Make& make) const {
    raw_loop(1, batch_rows, make);
    Loader loader(pipeline, {.threads = 1, .epochs = 1});
    const std::optional<Batch> ours = loader.next();
    const TensorView rows = ours.value()[pipeline.schema()[0].name];
    if (std::memcmp(rows.data, ring.row(0), rows.bytes()) != 0)
      throw std::runtime_error("the first batch differs from that of the raw loop");
  }

  Settings settings;
  Store store;
  std::uint64_t epochs;
  LmdbSource source;
  PlainStore plain;
  Executor executor;
};

}  // namespace

Row lmdb_view(const RowSpec& spec, const Settings& settings) {
  Job job(settings);
  const auto hash = [](View<const std::uint8_t, 1> in, View<std::uint64_t, 0> out) {
    *out.data() = XXH3_64bits(in.data(), in.size());
  };
  const Pipeline pipeline = from(job.source) | shuffle() |
                            map("image", hash, {.name = "hash", .out = "hash", .shape = Shape{}}) |
                            select_fields({"hash"}) | batch(batch_rows);
  return job.measure(spec, pipeline, sizeof(std::uint64_t), [](std::span<const std::byte> value, std::byte* out) {
    const std::uint64_t h = XXH3_64bits(value.data(), value.size());
    std::memcpy(out, &h, sizeof(h));
  });
}

Row lmdb_copy(const RowSpec& spec, const Settings& settings) {
  Job job(settings);
  const auto copy = [](View<const std::uint8_t, 1> in, View<std::uint8_t, 1> out) {
    std::memcpy(out.data(), in.data(), std::min(in.size(), out.size()));
  };
  const Pipeline pipeline =
      from(job.source) | shuffle() |
      map("image", copy, {.name = "copy", .shape = Shape{static_cast<std::int64_t>(value_bytes)}}) | batch(batch_rows);
  return job.measure(spec, pipeline, value_bytes, [](std::span<const std::byte> value, std::byte* out) {
    std::memcpy(out, value.data(), value.size());
  });
}

}  // namespace penstock::bench
