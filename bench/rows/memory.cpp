// Rows over records that are in memory already: what the engine itself costs.
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Memory bytes_in_memory(std::uint64_t records, Shape shape) {
  std::vector<std::uint8_t> bytes(records * shape.elements());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  Memory memory;
  memory.add<std::uint8_t>("x", shape, std::move(bytes));
  return memory;
}

// Records by their number, without the library.
const std::byte* data_of(const Memory& memory) {
  OwnedSample cells(memory.schema());
  SampleBuilder builder = cells.builder();
  memory.read(0, builder);
  return cells["x"].data;
}

Timing memcpy_loop(unsigned threads, const std::byte* records, std::size_t bytes,
                   const std::vector<std::uint64_t>& order, const Ring& ring) {
  return raw_loop(threads, order.size(), [&] {
    return [&, bytes](std::uint64_t ticket) { std::memcpy(ring.row(ticket), records + order[ticket] * bytes, bytes); };
  });
}

}  // namespace

Row empty_ns(const RowSpec& spec, const Settings& settings) {
  constexpr std::uint64_t records = 1024, bytes = 1024;
  const std::uint64_t epochs = settings.quick ? 20 : 4000;
  const Memory memory = bytes_in_memory(records, {bytes});
  const Pipeline pipeline = from(memory) | batch(batch_rows);
  const Ring ring(bytes, batch_rows, ring_depth);
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const std::byte* data = data_of(memory);
  const auto per_sample = [&](Timing timing, std::uint64_t n) {
    timing.value = timing.value / static_cast<double>(n) * 1e9;
    return timing;
  };
  const Executor one(1), all(settings.threads);
  Row row = compare(
      spec, settings, [&] { return per_sample(time_loader(pipeline, one, 1, epochs), records * epochs); },
      [&] { return per_sample(memcpy_loop(1, data, bytes, order, ring), order.size()); });
  const Timing at_all = per_sample(time_loader(pipeline, all, settings.threads, epochs), records * epochs);
  const Pipeline shuffled = from(memory) | shuffle() | batch(batch_rows);
  const Timing with_shuffle = per_sample(time_loader(shuffled, one, 1, epochs), records * epochs);
  row.notes.push_back(fmt::format("wall x T at T = {}: {:.0f} ns; with a shuffle, 1 thread: {:.0f} ns (one round each)",
                                  settings.threads, at_all.value * settings.threads, with_shuffle.value));
  return row;
}

Row records_vs_memcpy(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 128 : 2048;
  const std::uint64_t epochs = settings.quick ? 2 : 40;
  constexpr std::size_t bytes = std::size_t{224} * 224 * 3;
  const Memory memory = bytes_in_memory(records, {224, 224, 3});
  const Pipeline pipeline = from(memory) | shuffle() | batch(batch_rows);
  const Ring ring(bytes, batch_rows, ring_depth);
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const std::byte* data = data_of(memory);
  const double gigabytes = static_cast<double>(records * epochs * bytes) * 1e-9;
  const auto rate = [&](Timing timing) {
    timing.value = gigabytes / timing.value;
    return timing;
  };
  const Executor executor(settings.threads);
  return compare(
      spec, settings, [&] { return rate(time_loader(pipeline, executor, settings.threads, epochs)); },
      [&] { return rate(memcpy_loop(settings.threads, data, bytes, order, ring)); });
}

}  // namespace penstock::bench
