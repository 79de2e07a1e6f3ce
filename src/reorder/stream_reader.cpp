// SPDX-License-Identifier: Apache-2.0
#include "reorder/stream_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/run_delay.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr unsigned records_at_once = 8;
constexpr std::uint64_t long_read_ns = 200'000;
constexpr std::uint64_t read_worth_asking_ns = 50'000;  // asking how long the thread waited takes a few microseconds

}  // namespace

StreamReader::StreamReader(const RunSetup& setup, const Chain& chain, const Context& context)
    : setup_(setup), chain_(chain), context_(context), stream_(setup.data->source->open_stream()) {}

void StreamReader::reset(const Cursor& cursor) noexcept {
  at_ = cursor;
  begun_ = false;
}

bool StreamReader::can_read() noexcept {
  const IssueProgress& intake = context_.intake;
  return !intake.exhausted() && !intake.busy() &&
         context_.records.at(intake.issued()).vacant.load(std::memory_order_seq_cst);
}

unsigned StreamReader::read(ChainRun& run) noexcept {
  IssueProgress& intake = context_.intake;
  if (!can_read() || !intake.enter()) return 0;
  const TracedRange traced(run.runner.trace, "read stream");
  WaitWatch watch(last_ns_ > read_worth_asking_ns);
  const Clocks begun = read_clocks();
  unsigned count = 0;
  while (count < records_at_once && !context_.signals.paused() && !intake.exhausted() &&
         context_.records.at(intake.issued()).vacant.load(std::memory_order_seq_cst) && read_one(run)) {
    ++count;
    if (now_ns() - begun.wall_ns > long_read_ns) break;  // runners can begin with the records that were read
  }
  const Clocks ended = read_clocks();
  const std::uint64_t cpu_ns = ended.cpu_ns - begun.cpu_ns, wall_ns = ended.wall_ns - begun.wall_ns;
  last_ns_ = wall_ns;
  intake.leave();
  ChainRunCounters& counters = run.counters;
  counters.steps[0].cpu_ns.add(cpu_ns);
  if (wall_ns > cpu_ns) counters.steps[0].wait_ns.add(watch.waited(wall_ns - cpu_ns));
  counters.reads.wall_ns.add(wall_ns);
  counters.reads.samples.add(count);
  counters.reads.stood_for.add(count);
  return count;
}

// Reads the next record into a SharedRecord. An epoch's end and a failure become a SharedRecord too. Returns false if
// runners should stop.
bool StreamReader::read_one(ChainRun& run) noexcept {
  const std::uint64_t number = context_.intake.issued();
  SharedRecord& record = context_.records.take(number);
  record.epoch = at_.epoch;
  record.position = record.index = record.outcome.index = at_.position;
  record.count = 1;
  bool began = begun_;
  try {
    ChainRun& parent = context_.maker.run_of(record);
    parent.at = &chain_.steps()[0]->label;
    const BeginResult begun = began ? BeginResult::at_record : begin(parent);
    if (begun == BeginResult::interrupted) {
      record.vacant.store(true, std::memory_order_seq_cst);
      return false;
    }
    begun_ = began = true;
    if (begun == BeginResult::at_record && chain_.read(parent, *stream_)) {
      ++at_.position;
      note(parent, run);
    } else {
      record.end = record.terminates = true;
      at_ = {at_.epoch + 1, 0, 0, 0};
      begun_ = false;
      if (setup_.epochs != 0 && at_.epoch >= setup_.epochs) context_.intake.end();
    }
  } catch (...) {
    fail(record, began);
  }
  context_.intake.issue_up_to(number + 1);
  if (setup_.data->flat_maps)
    context_.to_open.raise(number + 1);
  else
    context_.samples.publish(record);
  return true;
}

// Moves the counts from `parent` to `run`, the runner that reads the stream, because the report uses only the counters
// of runners.
void StreamReader::note(ChainRun& parent, ChainRun& run) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t f = 0; f < parent.cells.size(); ++f)
    bytes += parent.cells[f].shape.elements() * size_of((*parent.schema)[f].dtype);
  ChainCounters &reads = run.counters.reads, &totals = parent.counters.totals;
  run.counters.steps[0].bytes.add(bytes);
  reads.copied_bytes.add(totals.copied_bytes.get());
  totals.copied_bytes.set(0);
  reads.scratch_bytes.set(std::max<std::uint64_t>(reads.scratch_bytes.get(), parent.arena.peak()));
}

// Notes the exception in flight. Call inside a catch block. `began`: whether the stream was at the record. If
// not, the failure does not concern a single record, and ends the run.
void StreamReader::fail(SharedRecord& record, bool began) noexcept {
  const OnError policy = setup_.data->policy_value().policy;
  bool goes_on = false;
  try {
    Error error = record.run != nullptr ? chain_.describe_failure(*record.run, record.index) : current_error();
    goes_on = began && error.sample_scoped() && policy != OnError::fail;
    record.outcome.masked = record.outcome.kept = goes_on && policy == OnError::mask;
    (goes_on ? record.outcome.bad : record.outcome.fatal) = std::move(error);
  } catch (...) {  // no memory even for the error
    record.broken = true;
  }
  if (goes_on) {
    ++at_.position;
  } else {
    record.terminates = true;
    context_.intake.end();
  }
}

// Puts the stream at the record `at_`. If the stream can't seek, reads and ignores the earlier records.
StreamReader::BeginResult StreamReader::begin(ChainRun& parent) {
  stream_->reset(at_.epoch);
  if (at_.position == 0) return BeginResult::at_record;
  if (stream_->can_seek()) {
    stream_->seek(at_.position);
    return BeginResult::at_record;
  }
  for (std::uint64_t record = 0; record < at_.position; ++record) {
    if (context_.signals.paused()) return BeginResult::interrupted;
    try {
      if (!chain_.read(parent, *stream_)) return BeginResult::ended;
    } catch (...) {
      if (!chain_.describe_failure(parent, record).sample_scoped()) throw;
    }
  }
  return BeginResult::at_record;
}

}  // namespace penstock::detail::runtime
