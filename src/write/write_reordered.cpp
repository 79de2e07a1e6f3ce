// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/memory.hpp>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "data/scratch.hpp"
#include "delivery/host_delivery.hpp"
#include "engine/engine.hpp"
#include "reorder/reordered.hpp"
#include "reorder/shared_records.hpp"
#include "ring/memory_plan.hpp"
#include "write/write.hpp"

// Writes samples that share what they are made of: children of a record, records with common blocks, and records of a
// stream. A loader's engine makes the samples in batches, whose rows are put into the sink one by one.
namespace penstock::detail::runtime {

namespace {

constexpr unsigned ring_depth = 3;  // one batch whose rows are put, one that is ready, one that is filled
constexpr std::uint64_t usual_rows = 64, max_rows = 1024;

// The number of entries, and the largest number of rows and bytes in a batch. If all samples have the same size,
// entries and ring together have at most `max_waiting_bytes`. They have more if 4 entries per thread and one row per
// batch need more. If samples differ in size, a batch ends when it has `batch_bytes`, a share of `max_waiting_bytes`.
struct Sizes {
  std::size_t entries;
  std::uint64_t rows;
  std::size_t batch_bytes;
};

Sizes sizes_for(const RowLayout& layout, const WriteOptions& options, unsigned threads) {
  const std::size_t share = std::max<std::size_t>(options.max_waiting_bytes / (ring_depth + 1), 1);
  const std::size_t row = std::max<std::size_t>(WaitingRows::row_bytes(layout), 1);
  const std::size_t window = options.max_in_flight != 0 ? options.max_in_flight
                             : layout.appends()         ? std::size_t{4} * threads
                                                        : std::size_t{8} * threads;
  const std::uint64_t rows = options.max_in_flight != 0 ? std::min<std::uint64_t>(window, max_rows) : usual_rows;
  return {std::max(std::min(window, share / row), std::size_t{4} * threads),
          std::clamp<std::uint64_t>(share / row, 1, rows), share};
}

std::vector<Field> batched(const Schema& schema) {
  std::vector<Field> fields(schema.begin(), schema.end());
  for (Field& field : fields) field.collate = field.shape.fixed() ? Collate::dense() : Collate::ragged();
  return fields;
}

// Returns a pipeline with the same samples in the same order, in batches of these sizes.
std::shared_ptr<const PipelineData> in_batches(const PipelineData& data, const Schema& schema, const Sizes& sizes) {
  auto out = std::make_shared<PipelineData>(data);
  out->schema = schema;
  out->collates.clear();
  out->bucket.reset();
  out->batch = BatchSpec{sizes.rows, {}, sizes.batch_bytes};
  out->bounded = true;
  return out;
}

RunSetup setup_for(std::shared_ptr<const PipelineData> data, const Sizes& sizes, unsigned threads, RecordSkips* skips) {
  RunSetup setup;
  setup.plan.threads = threads;
  setup.plan.depth = ring_depth;
  setup.plan.entries = sizes.entries;
  setup.plan.shared_records = ReorderedWork::shared_records_for(*data, threads);
  setup.epochs = 1;
  setup.keeps_places = true;
  setup.skips = skips;
  setup.data = std::move(data);
  return setup;
}

// Shows one row of a batch as a sample of the pipeline.
class RowCells final : public Cells {
 public:
  explicit RowCells(const Schema& of) {
    schema = &of;
    cells.resize(of.size());
  }
  // Sets the cells to the row's values. Returns the number of bytes that the values have.
  std::uint64_t show(const BatchRing& ring, const BatchBuffer& buffer, std::uint64_t row) {
    alignas(64) static std::byte nothing{};
    arena_.reset();
    std::uint64_t bytes = 0;
    for (std::size_t f = 0; f < cells.size(); ++f) {
      const bool dense = ring.layout().row()[f].kind == RowField::Kind::dense;
      const RaggedRow value = dense ? RaggedRow{ring.address(buffer, f, row), (*schema)[f].shape}
                                    : ring.layout().varying_rows(buffer, f)[row];
      cells[f] = {};
      cells[f].data = value.data != nullptr ? value.data : &nothing;
      cells[f].shape = value.shape;
      cells[f].writable = true;
      bytes += value.shape.elements() * size_of((*schema)[f].dtype);
    }
    return bytes;
  }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_.allocate(bytes); }

 private:
  ScratchArena arena_;
};

// Skips samples that the sink already has. If asking about a sample fails, that sample and the later samples of its
// record are not skipped here. Before they are put, the sink is asked again, and an error is thrown then.
class WriteSkips final : public RecordSkips {
 public:
  WriteSkips(WriteRun& run, const PipelineData& data) : run_(run), items_(data) {}
  void choose(SharedRecord& record) noexcept override {
    const std::uint64_t begun = now_ns();
    ask(record);
    asked_ns_ += now_ns() - begun;
  }
  /// Returns how much of the caller's waiting time was spent asking the sink.
  std::uint64_t asked_ns() const noexcept { return asked_ns_; }

 private:
  void ask(SharedRecord& record) noexcept {
    try {
      for (std::uint32_t child = 0; child < record.count && !run_.options().stop.stop_requested(); ++child) {
        if (!run_.has(items_.at({record.position, child}, record.outcome.index))) continue;
        if (record.skipped.empty()) record.skipped.resize(record.count);
        record.skipped[child] = true;
      }
    } catch (...) {
    }
  }

  WriteRun& run_;
  WriteItems items_;
  std::uint64_t asked_ns_ = 0;
};

struct EngineClosing {
  Engine& engine;
  ~EngineClosing() { engine.close(); }
};

void tell_of_skipped(WriteRun& run) {
  if (run.options().progress && run.progress.skipped % run.options().commit_every == 0)
    run.options().progress(run.progress);
}

// The largest number of missing samples that are found before an engine makes them. The number is so low that threads
// don't wait long for the sink's answers, and so high that the start and the end of an engine cost little.
constexpr std::uint64_t missing_at_once = 1u << 16;

// Returns up to `missing_at_once` positions from `position` on that the sink lacks. Moves `position` to the first
// position that was not looked at. Each sample that the sink has is counted as skipped.
std::vector<PositionRange> find_missing(WriteRun& run, const PipelineData& data, std::uint64_t& position) {
  WriteItems items(data);
  std::vector<PositionRange> missing;
  for (std::uint64_t found = 0; found < missing_at_once && position < data.size; ++position) {
    if (run.options().stop.stop_requested()) break;
    bool there = false;
    try {
      SinkItem item = items.at_position(position);
      items.name(item);
      there = run.has(item);
    } catch (...) {  // the sample counts as missing: what failed fails again when it is made or put
    }
    if (there) {
      ++run.progress.done;
      ++run.progress.skipped;
      tell_of_skipped(run);
      continue;
    }
    ++found;
    if (missing.empty() || missing.back().end != position) missing.push_back({position, position});
    ++missing.back().end;
  }
  return missing;
}

// Puts the rows of batches into the sink.
class Putting {
 public:
  Putting(WriteRun& run, const PipelineData& data)
      : run_(run), items_(data), ledger_(data.policy_value()), row_(data.schema) {}

  // Call before an engine's first batch. Notes how many samples are done, including samples that the sink already had.
  void begin() { before_ = run_.progress.done; }

  // Puts those rows of a batch that the sink lacks. Returns false after a stop.
  bool put(const BatchRing& ring, const BatchBuffer& buffer) {
    if (buffer.overflow) throw *buffer.overflow;
    for (std::uint64_t row = 0; row < buffer.rows; ++row) {
      if (run_.options().stop.stop_requested()) return false;
      const SinkItem& item = items_.at(buffer.places[row], buffer.indices[row]);
      ++run_.progress.done;
      if (run_.has(item)) {
        ++run_.progress.skipped;
        tell_of_skipped(run_);
        continue;
      }
      const std::uint64_t bytes = row_.show(ring, buffer, row);
      Sample sample(row_);
      run_.put(item, sample, bytes);
      run_.commit_if_due();
    }
    return true;
  }
  // Counts the skipped, filtered and bad samples of a batch, or those after an engine's last batch. For a batch, call
  // it after `put`, because it throws if a bad sample ends the run.
  void account(SampleCounts& counts) {
    const std::uint64_t dropped = counts.bad.size() + counts.unlisted;
    if (counts.unreported) throw no_memory();
    ledger_.account(counts.bad, before_, counts.unlisted);
    if (run_.options().on_drop)
      for (const BadSample& bad : counts.bad) run_.options().on_drop(bad.error);
    before_ += counts.samples;
    run_.progress.skipped += counts.skipped;
    run_.progress.filtered += counts.filtered;
    run_.progress.dropped += dropped;
    run_.progress.done += counts.skipped + counts.filtered + dropped;
    if (counts.skipped != 0 && run_.options().progress) run_.options().progress(run_.progress);
  }

 private:
  WriteRun& run_;
  WriteItems items_;
  BadSampleLedger ledger_;
  RowCells row_;
  std::uint64_t before_ = 0;
};

bool put_all(const std::shared_ptr<Engine>& engine, Putting& putting, std::uint64_t& waited_ns) {
  for (;;) {
    auto lease = std::make_unique<HostLease>(engine);
    const std::uint64_t asked = now_ns();
    BatchBuffer* const buffer = engine->wait(0);
    waited_ns += now_ns() - asked;
    if (buffer == nullptr) break;
    lease->take(*buffer);
    if (!putting.put(engine->ring(), *buffer)) return false;
    putting.account(*buffer);
  }
  std::optional<EpochEnd> end = engine->take_epoch_end(0);
  if (end) putting.account(*end);
  return end.has_value();
}

}  // namespace

bool write_reordered(WriteRun& run, const std::shared_ptr<const PipelineData>& shared, Executor::Impl& executor,
                     unsigned threads) {
  const PipelineData& data = *shared;
  const WriteOptions& options = run.options();
  const bool by_record = data.flat_maps || data.source->is_stream();
  const Schema schema(batched(data.schema));
  const Sizes sizes = sizes_for(RowLayout(schema), options, threads);
  const auto batches = in_batches(data, schema, sizes);
  run.progress.total = by_record ? unknown_size : data.size;
  run.open();

  WriteSkips skips(run, data);
  const bool some = run.has_some();
  // Skips are not decided in advance for a shuffled stream, because a sink must be asked in the order of items.
  const bool asks = by_record && data.stream_window == 0 && some;
  Putting putting(run, data);
  std::shared_ptr<Engine> engine;  // the last engine
  RunTotals made;
  std::uint64_t waited_ns = 0;
  bool through = data.size == 0;
  for (std::uint64_t position = 0; !through;) {
    std::vector<PositionRange> missing;
    if (by_record || !some) {
      position = data.size;
    } else {
      const std::uint64_t begun = now_ns();
      missing = find_missing(run, data, position);
      run.add_untimed(now_ns() - begun);
      if (options.stop.stop_requested()) break;
      through = missing.empty();
      if (through) break;
    }
    const std::uint64_t first = missing.empty() ? 0 : missing.front().begin;
    engine.reset();  // frees the previous ring first, because two rings would need too much memory
    RunSetup setup = setup_for(batches, sizes, threads, asks ? &skips : nullptr);
    setup.ranges = std::move(missing);
    setup.lists_all_bad = options.on_drop != nullptr;
    if (data.source->block_model() != nullptr)
      setup.plan.block_limit = options.max_block_bytes != 0 ? options.max_block_bytes : default_block_bytes;
    engine = std::make_shared<Engine>(std::move(setup), executor);
    const EngineClosing closing{*engine};
    const std::stop_callback on_stop(options.stop, [&engine] { engine->stop(); });
    try {
      putting.begin();
      engine->seek({0, 0, first, 0, 0}, {run.progress.dropped, run.progress.done});
      const bool whole = put_all(engine, putting, waited_ns);
      if (options.report) made = together(std::move(made), engine->totals());
      if (!whole) break;
    } catch (...) {
      if (!run.failed_to_store()) run.commit();
      throw;
    }
    through = position == data.size;
  }
  run.commit();
  if (engine != nullptr) run.take_counts(engine->chain(), made, waited_ns - std::min(waited_ns, skips.asked_ns()));
  if (through) run.progress.total = run.progress.done;
  return through;
}

}  // namespace penstock::detail::runtime
