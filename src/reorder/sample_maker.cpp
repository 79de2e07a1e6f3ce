// SPDX-License-Identifier: Apache-2.0
#include "reorder/sample_maker.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::detail::runtime {

namespace {

// Lends the reader and the timeline's line of `from` to `to`, until this object is destroyed.
class LentReader {
 public:
  LentReader(ChainRun& from, ChainRun& to) noexcept : from_(from), to_(to) {
    std::swap(from_.reader, to_.reader);
    to_.runner.trace = from_.runner.trace;
  }
  LentReader(const LentReader&) = delete;
  LentReader& operator=(const LentReader&) = delete;
  ~LentReader() {
    std::swap(from_.reader, to_.reader);
    to_.runner.trace = nullptr;
  }

 private:
  ChainRun &from_, &to_;
};

// Gives memory of the entry's row to fields whose rows differ in size.
class WaitingRowOutlet final : public RowOutlet {
 public:
  explicit WaitingRowOutlet(WaitingRow& row) noexcept : row_(row) {}
  std::byte* append(std::size_t bytes) override { return row_.arena.allocate(bytes); }

 private:
  WaitingRow& row_;
};

}  // namespace

SampleMaker::SampleMaker(const RunSetup& setup, const Chain& chain, std::stop_token stop, ReorderBuffer& buffer)
    : setup_(setup), data_(*setup.data), chain_(chain), stop_(std::move(stop)), buffer_(buffer) {}

void SampleMaker::make(ChainRun& run, ReorderEntry& entry, std::uint64_t ticket) {
  SharedRecord* const record = entry.record;
  if (entry.skipped) {
    entry.outcome.kept = false;
  } else if (entry.decided) {
    entry.outcome = std::move(record->outcome);
    entry.broken = record->broken;
    entry.outcome.kept = entry.outcome.masked;  // a record without children has no sample to keep, except a masked row
  } else if (!entry.outcome.fatal) {
    for (std::size_t f = 0; f < run.row.fields.size(); ++f) run.row.fields[f] = buffer_.address(entry, f);
    if (record != nullptr && entry.place.child == 0) entry.outcome.bad = std::move(record->outcome.bad);
    WaitingRowOutlet outlet(*entry.row);
    run.append_to(outlet);
    const std::uint32_t attempt = entry.place.attempt;
    const ChainRun* at_work = &run;
    Attempts attempts(data_, entry.place, entry.index, entry.outcome);
    while (!attempts.over()) {
      const Place& place = attempts.place();
      const std::uint64_t index = attempts.index();
      try {
        at_work = &run;
        entry.row->arena.reset();
        const std::uint64_t stands_for = place.attempt == attempt ? run.counters.stands_for(ticket) : 0;
        attempts.made(record != nullptr ? make_child(run, *record, place, index, stands_for, at_work)
                                        : chain_.run(run, place, index, run.row.fields, stands_for));
      } catch (...) {
        run.copied_bytes = 0;
        if (run.stand_in != nullptr) run.stand_in->copied_bytes = 0;
        attempts.failed(chain_.describe_failure(*at_work, index));
      }
    }
  }
  if (entry.outcome.masked)
    buffer_.clear(entry);
  else if (entry.outcome.kept && !entry.outcome.fatal)
    buffer_.note(entry, run.row.varying);
}

// Makes a child of a shared record. If the child failed with the record's values, opens a stand-in for this child only.
// Returns false if the child is left out.
bool SampleMaker::make_child(ChainRun& run, const SharedRecord& record, const Place& place, std::uint64_t index,
                             std::uint64_t stands_for, const ChainRun*& at_work) {
  run.parent = record.run.get();
  run.child = place.child;
  if (place.attempt != record.outcome.attempt) {
    if (run.stand_in == nullptr) {
      run.stand_in = std::make_unique<ChainRun>(chain_, setup_.plan.scratch_limit, nullptr, chain_.children_begin());
      run.stand_in->stop = stop_;
    }
    ChainRun& parent = *run.stand_in;
    at_work = &parent;
    const LentReader lent(run, parent);
    if (!chain_.open(parent, place, index)) return false;
    const std::uint32_t count = chain_.count(parent, place, index);
    if (count == 0) return false;
    run.parent = &parent;
    run.child = place.child % count;
    at_work = &run;
  }
  return chain_.run(run, place, index, run.row.fields, stands_for);
}

ChainRun& SampleMaker::run_of(SharedRecord& record) {
  if (record.run == nullptr) {
    record.run = std::make_unique<ChainRun>(chain_, setup_.plan.shared_record_limit, nullptr, chain_.children_begin());
    record.run->stop = stop_;
  }
  return *record.run;
}

void SampleMaker::open(ChainRun& run, SharedRecord& record, std::uint64_t number) {
  if (record.terminates || record.broken || record.outcome.fatal || record.outcome.bad) return;
  ChainRun& parent = run_of(record);
  const LentReader lent(run, parent);
  Attempts attempts(data_, {record.epoch, record.position, 0, 0}, record.index, record.outcome);
  while (!attempts.over()) {
    const Place& place = attempts.place();
    const std::uint64_t index = attempts.index();
    try {
      const bool first = place.attempt == 0;
      const bool kept =
          chain_.open(parent, place, index,
                      first ? measures(number, run.counters.parents.measured.get(), parent.counters.sample_ns) : 0);
      record.count = kept ? chain_.count(parent, place, index) : 0;
      attempts.made(kept);
    } catch (...) {
      parent.copied_bytes = 0;
      attempts.failed(chain_.describe_failure(parent, index));
    }
  }
  collect(parent, run);
}

// Moves the counts to the runner that made the shared record, because only the counters of runners are read.
void SampleMaker::collect(ChainRun& parent, ChainRun& run) noexcept {
  const auto move = [](RelaxedCounter& out_of, RelaxedCounter& into) {
    into.add(out_of.get());
    out_of.set(0);
  };
  ChainRunCounters &from = parent.counters, &to = run.counters;
  const auto move_steps = [&](ChainRun& out_of, ChainRun& into, std::size_t count) {
    std::vector<StepCounters>&here = out_of.counters.steps, &there = into.counters.steps;
    for (std::size_t i = 0; i < count; ++i) {
      move(here[i].cpu_ns, there[i].cpu_ns);
      move(here[i].bytes, there[i].bytes);
      move(here[i].wait_ns, there[i].wait_ns);
      here[i].remarks.move_to(there[i].remarks);
    }
  };
  move_steps(parent, run, chain_.children_begin());
  parent.with_branches(run, [&](ChainRun& out_of, ChainRun& into) {
    move_steps(out_of, into, out_of.counters.steps.size());
    move(out_of.counters.totals.samples, into.counters.totals.samples);
    move(out_of.counters.totals.made, into.counters.totals.made);
  });
  move(from.totals.samples, to.parents.samples);
  move(from.totals.copied_bytes, to.parents.copied_bytes);
  move(from.totals.made, to.parents.made);
  move(from.totals.measured, to.parents.measured);
  move(from.totals.stood_for, to.parents.stood_for);
  move(from.totals.wall_ns, to.parents.wall_ns);
  to.parents.scratch_bytes.set(std::max<std::uint64_t>(to.parents.scratch_bytes.get(), parent.arena.peak()));
}

}  // namespace penstock::detail::runtime
