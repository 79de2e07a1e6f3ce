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

// `run` tickets are taken at once; they must come out even.
Timing memcpy_loop(unsigned threads, const std::byte* records, std::size_t bytes,
                   const std::vector<std::uint64_t>& order, const Ring& ring, std::uint64_t run = 1) {
  return raw_loop(threads, order.size() / run, [&] {
    return [&, bytes, run](std::uint64_t ticket) {
      for (std::uint64_t i = ticket * run; i < (ticket + 1) * run; ++i)
        std::memcpy(ring.row(i), records + order[i] * bytes, bytes);
    };
  });
}

constexpr std::uint64_t tiny_records = 1024, tiny_bytes = 1024;

Timing per_sample(Timing timing, std::uint64_t samples) {
  timing.value = timing.value / static_cast<double>(samples) * 1e9;
  return timing;
}

}  // namespace

Row empty_ns(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t epochs = settings.quick ? 20 : 4000;
  const Memory memory = bytes_in_memory(tiny_records, {tiny_bytes});
  const Pipeline pipeline = from(memory) | batch(batch_rows);
  const Ring ring(tiny_bytes, batch_rows, ring_depth);
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const std::byte* data = data_of(memory);
  const Executor one(1);
  Row row = compare(
      spec, settings, [&] { return per_sample(time_loader(pipeline, one, 1, epochs), order.size()); },
      [&] { return per_sample(memcpy_loop(1, data, tiny_bytes, order, ring), order.size()); });
  const Pipeline shuffled = from(memory) | shuffle() | batch(batch_rows);
  const Timing with_shuffle = per_sample(time_loader(shuffled, one, 1, epochs), order.size());
  row.notes.push_back(fmt::format("with a shuffle: {:.0f} ns (one round)", with_shuffle.value));
  return row;
}

Row tiny_threads(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t epochs = settings.quick ? 20 : 4000;
  const Memory memory = bytes_in_memory(tiny_records, {tiny_bytes});
  const Pipeline pipeline = from(memory) | batch(batch_rows);
  const Ring ring(tiny_bytes, batch_rows, ring_depth);
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const std::byte* data = data_of(memory);
  const Executor one(1), two(2), eight(8);
  std::vector<double> ones, twos, eights, by_hand;
  const auto ns = [&](Timing timing, std::vector<double>& kept) {
    return kept.emplace_back(per_sample(timing, order.size()).value);
  };
  Row row = compare(
      spec, settings,
      [&] {
        const double alone = ns(time_loader(pipeline, one, 1, epochs), ones);
        const double together = ns(time_loader(pipeline, two, 2, epochs), twos);
        ns(time_loader(pipeline, eight, 8, epochs), eights);
        return Timing{alone / together, 0};
      },
      [&] {
        std::vector<double> alone;
        const double before = ns(memcpy_loop(1, data, tiny_bytes, order, ring, batch_rows), alone);
        return Timing{before / ns(memcpy_loop(2, data, tiny_bytes, order, ring, batch_rows), by_hand), 0};
      });
  row.notes.push_back(
      fmt::format("ns a sample: {:.0f} with one thread, {:.0f} with two, {:.0f} with eight; by hand, "
                  "with two: {:.0f}",
                  median(ones), median(twos), median(eights), median(by_hand)));
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
