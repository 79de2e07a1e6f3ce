// SPDX-License-Identifier: Apache-2.0
// Rows with records that are in memory. They measure what the engine itself costs.
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

// Returns the bytes of all records, one after the other, for a loop without the library.
const std::byte* data_of(const Memory& memory) {
  OwnedSample cells(memory.schema());
  SampleBuilder builder = cells.builder();
  memory.read(0, builder);
  return cells["x"].data;
}

// Copies `run` records per ticket. REQUIRES: the number of records is a multiple of `run`.
Timing memcpy_loop(unsigned threads, const std::byte* records, std::size_t bytes,
                   const std::vector<std::uint64_t>& order, const Ring& ring, std::uint64_t run = 1) {
  return raw_loop(threads, order.size() / run, [&] {
    return [&, bytes, run](std::uint64_t ticket) {
      for (std::uint64_t i = ticket * run; i < (ticket + 1) * run; ++i)
        std::memcpy(ring.row(i), records + order[i] * bytes, bytes);
    };
  });
}

// 1,024 records of 1 KiB each, in batches of 64.
class TinyJob {
 public:
  explicit TinyJob(const Settings& settings)
      : epochs_(settings.quick ? 20 : 4000),
        memory_(bytes_in_memory(1024, {bytes})),
        pipeline_(from(memory_) | batch(batch_rows)),
        ring_(bytes, batch_rows, ring_depth),
        order_(order_of(pipeline_, epochs_)) {}

  // Returns the nanoseconds per sample on the executor's threads.
  Timing ours(const Executor& executor) const { return per_sample(pipeline_, executor); }
  Timing shuffled(const Executor& executor) const {
    return per_sample(from(memory_) | shuffle() | batch(batch_rows), executor);
  }
  Timing by_hand(unsigned threads, std::uint64_t run) const {
    return per_sample(memcpy_loop(threads, data_of(memory_), bytes, order_, ring_, run));
  }

 private:
  static constexpr std::int64_t bytes = 1024;
  Timing per_sample(const Pipeline& pipeline, const Executor& executor) const {
    return per_sample(time_loader(pipeline, executor, executor.threads(), epochs_));
  }
  Timing per_sample(Timing timing) const {
    timing.value = timing.value / static_cast<double>(order_.size()) * 1e9;
    return timing;
  }
  std::uint64_t epochs_;
  Memory memory_;
  Pipeline pipeline_;
  Ring ring_;
  std::vector<std::uint64_t> order_;
};

}  // namespace

Row empty_ns(const RowSpec& spec, const Settings& settings) {
  const TinyJob job(settings);
  const Executor one(1);
  Row row = compare(
      spec, settings, [&] { return job.ours(one); }, [&] { return job.by_hand(1, 1); });
  row.notes.push_back(fmt::format("with a shuffle: {:.0f} ns (one round)", job.shuffled(one).value));
  return row;
}

Row tiny_threads(const RowSpec& spec, const Settings& settings) {
  const TinyJob job(settings);
  const Executor one(1), two(2), eight(8);
  std::vector<double> ones, twos, eights, by_hand;
  Row row = compare(
      spec, settings,
      [&] {
        ones.push_back(job.ours(one).value);
        twos.push_back(job.ours(two).value);
        eights.push_back(job.ours(eight).value);
        return Timing{ones.back() / twos.back(), 0};
      },
      [&] {
        const double alone = job.by_hand(1, batch_rows).value;
        by_hand.push_back(job.by_hand(2, batch_rows).value);
        return Timing{alone / by_hand.back(), 0};
      });
  row.notes.push_back(
      fmt::format("ns a sample: {:.0f} with one thread, {:.0f} with two, {:.0f} with eight; by hand, with two: {:.0f}",
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
