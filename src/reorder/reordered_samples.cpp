#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "reorder/reordered.hpp"

// How samples, and the records they share, are made.
namespace penstock::detail {

namespace {

constexpr unsigned records_at_once = 8;
constexpr std::uint64_t long_read_ns = 200'000;
constexpr std::uint64_t read_worth_asking_ns = 50'000;  // some microseconds more

// Lends a reader for as long as this lives.
class LentReader {
 public:
  LentReader(ChainRun& from, ChainRun& to) noexcept : from_(from), to_(to) { std::swap(from_.reader, to_.reader); }
  LentReader(const LentReader&) = delete;
  LentReader& operator=(const LentReader&) = delete;
  ~LentReader() { std::swap(from_.reader, to_.reader); }

 private:
  ChainRun &from_, &to_;
};

/// Rows without a size of their own wait with their entry.
class CellOutlet final : public RowOutlet {
 public:
  explicit CellOutlet(WaitingRow& row) noexcept : row_(row) {}
  std::byte* append(std::size_t bytes) override { return row_.arena.allocate(bytes); }

 private:
  WaitingRow& row_;
};

}  // namespace

void Reordered::make(ChainRun& run, TicketRun tickets) noexcept {
  if (tickets.count > 1 && !shared_records_) {
    std::array<std::uint64_t, max_at_once> indices{};
    for (std::uint64_t i = 0; i < tickets.count; ++i) indices[i] = reorder_buffer_.entry(tickets.first + i).index;
    run.reader->expect({indices.data(), static_cast<std::size_t>(tickets.count)});
  }
  const std::uint64_t begun = tickets.count > 4 ? now_ns() : 0;
  for (std::uint64_t i = 0; i < tickets.count; ++i) {
    if (i != 0 && host_.paused()) return;
    ReorderEntry& entry = reorder_buffer_.entry(tickets.first + i);
    try {
      make_entry(run, entry, tickets.first + i);
    } catch (...) {  // no memory even to say what failed
      entry.broken = true;
    }
    run.parent = nullptr;
    if (entry.record != nullptr) leave(*entry.record);
    if (!shared_records_) give_back_blocks(tickets.first + i);
    reorder_buffer_.finish(entry);
  }
  // Samples that became long must not be taken together once more before one of them happens to be measured.
  if (begun != 0)
    if (const std::uint64_t each = (now_ns() - begun) / tickets.count; each > 4 * run.sample_ns) run.sample_ns = each;
}

void Reordered::make_entry(ChainRun& run, ReorderEntry& entry, std::uint64_t ticket) {
  SharedRecord* const record = entry.record;
  if (entry.skipped) {
    entry.outcome.kept = false;
  } else if (entry.decided) {
    entry.outcome = std::move(record->outcome);
    entry.broken = record->broken;
    entry.outcome.kept = entry.outcome.masked;  // what was made has no samples
  } else if (!entry.outcome.fatal) {
    for (std::size_t f = 0; f < run.rows.size(); ++f) run.rows[f] = reorder_buffer_.address(entry, f);
    if (record != nullptr && entry.place.child == 0) entry.outcome.bad = std::move(record->outcome.bad);
    CellOutlet outlet(*entry.row);
    run.outlet = &outlet;
    const std::uint32_t attempt = entry.place.attempt;
    const ChainRun* at_work = &run;
    make_sample(
        data_, entry.place, entry.index, entry.outcome,
        [&](const Place& place, std::uint64_t index) {
          at_work = &run;
          entry.row->arena.reset();
          const std::uint64_t stands_for =
              place.attempt == attempt ? measures(ticket, run.totals.measured.get(), run.sample_ns) : 0;
          return record != nullptr ? make_child(run, *record, place, index, stands_for, at_work)
                                   : chain_.run(run, place, index, run.rows, stands_for);
        },
        [&](std::uint64_t index) {
          run.copied_bytes = 0;
          if (run.stand_in != nullptr) run.stand_in->copied_bytes = 0;
          return chain_.describe_failure(*at_work, index);
        });
  }
  if (entry.outcome.masked)
    reorder_buffer_.clear(entry);
  else if (entry.outcome.kept && !entry.outcome.fatal)
    reorder_buffer_.note(entry, run.varying);
}

// A child of its record, or, where another record is tried in its place, of that one, which is made for it alone.
bool Reordered::make_child(ChainRun& run, const SharedRecord& record, const Place& place, std::uint64_t index,
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
  return chain_.run(run, place, index, run.rows, stands_for);
}

void Reordered::leave(SharedRecord& record) noexcept {
  if (record.left.fetch_sub(1, std::memory_order_acq_rel) == 1) record.vacant.store(true, std::memory_order_seq_cst);
}

// -- shared records --

ChainRun& Reordered::run_of(SharedRecord& record) {
  if (record.run == nullptr) {
    record.run = std::make_unique<ChainRun>(chain_, setup_.plan.shared_record_limit, nullptr, chain_.children_begin());
    record.run->stop = stop_;
  }
  return *record.run;
}

void Reordered::open(ChainRun& run, std::uint64_t number) noexcept {
  SharedRecord& record = shared_records_->at(number);
  try {
    if (!record.terminates && !record.broken && !record.outcome.fatal && !record.outcome.bad)
      open_shared_record(run, record, number);
  } catch (...) {  // no memory even to say what failed
    record.broken = true;
  }
  give_back_blocks(number);
  publish(record);
}

void Reordered::open_shared_record(ChainRun& run, SharedRecord& record, std::uint64_t number) {
  ChainRun& parent = run_of(record);
  const LentReader lent(run, parent);
  make_sample(
      data_, {record.epoch, record.position, 0, 0}, record.index, record.outcome,
      [&](const Place& place, std::uint64_t index) {
        const bool first = place.attempt == 0;
        const bool kept = chain_.open(parent, place, index,
                                      first ? measures(number, run.parents.measured.get(), parent.sample_ns) : 0);
        record.count = kept ? chain_.count(parent, place, index) : 0;
        return kept;
      },
      [&](std::uint64_t index) {
        parent.copied_bytes = 0;
        return chain_.describe_failure(parent, index);
      });
  collect(parent, run);
}

// The counters of shared records are kept by the runner that makes them, as others read those.
void Reordered::collect(ChainRun& parent, ChainRun& run) noexcept {
  const auto move = [](Tally& from, Tally& to) {
    to.add(from.get());
    from.set(0);
  };
  for (std::size_t i = 0; i < chain_.children_begin(); ++i) {
    move(parent.counters[i].cpu_ns, run.counters[i].cpu_ns);
    move(parent.counters[i].bytes, run.counters[i].bytes);
    move(parent.counters[i].wait_ns, run.counters[i].wait_ns);
    parent.counters[i].remarks.move_to(run.counters[i].remarks);
  }
  move(parent.totals.samples, run.parents.samples);
  move(parent.totals.copied_bytes, run.parents.copied_bytes);
  move(parent.totals.recalled, run.parents.recalled);
  move(parent.totals.measured, run.parents.measured);
  move(parent.totals.stood_for, run.parents.stood_for);
  move(parent.totals.wall_ns, run.parents.wall_ns);
  run.parents.scratch_bytes.set(std::max<std::uint64_t>(run.parents.scratch_bytes.get(), parent.arena.peak()));
}

// -- streams --

bool Reordered::can_read() noexcept {
  return !exhausted_.load(std::memory_order_seq_cst) && !issuing_.load(std::memory_order_seq_cst) &&
         shared_records_->at(issued_.load(std::memory_order_seq_cst)).vacant.load(std::memory_order_seq_cst);
}

// Some records, by one runner at a time.
bool Reordered::read(ChainRun& run) noexcept {
  if (!can_read() || issuing_.exchange(true, std::memory_order_seq_cst)) return false;
  WaitWatch watch(read_ns_ > read_worth_asking_ns);
  const Clocks begun = read_clocks();
  unsigned count = 0;
  while (count < records_at_once && !host_.paused() && !exhausted_.load(std::memory_order_relaxed) &&
         shared_records_->at(issued_.load(std::memory_order_relaxed)).vacant.load(std::memory_order_seq_cst) &&
         read_one(run)) {
    ++count;
    if (now_ns() - begun.wall_ns > long_read_ns) break;  // others, or this runner, can begin with what there is
  }
  const Clocks ended = read_clocks();
  const std::uint64_t cpu_ns = ended.cpu_ns - begun.cpu_ns, wall_ns = ended.wall_ns - begun.wall_ns;
  read_ns_ = wall_ns;
  issuing_.store(false, std::memory_order_seq_cst);
  run.counters[0].cpu_ns.add(cpu_ns);
  if (wall_ns > cpu_ns) run.counters[0].wait_ns.add(watch.waited(wall_ns - cpu_ns));
  run.reads.wall_ns.add(wall_ns);
  run.reads.samples.add(count);
  run.reads.stood_for.add(count);
  if (count == 0) return false;
  tidy();
  host_.wake_runners();
  return true;
}

// False: it was interrupted.
bool Reordered::read_one(ChainRun& run) noexcept {
  const std::uint64_t number = issued_.load(std::memory_order_relaxed);
  SharedRecord& record = shared_records_->take(number);
  record.epoch = read_at_.epoch;
  record.position = record.index = record.outcome.index = read_at_.position;
  record.count = 1;
  bool began = stream_begun_;
  try {
    ChainRun& parent = run_of(record);
    parent.at = &chain_.steps()[0]->label;
    const Begun begun = began ? Begun::at_record : begin_stream(parent);
    if (begun == Begun::interrupted) {
      record.vacant.store(true, std::memory_order_seq_cst);
      return false;
    }
    stream_begun_ = began = true;
    if (begun == Begun::at_record && chain_.read(parent, *stream_)) {
      ++read_at_.position;
      note_read(parent, run);
    } else {
      record.end = record.terminates = true;
      read_at_ = {read_at_.epoch + 1, 0, 0, 0};
      stream_begun_ = false;
      if (setup_.epochs != 0 && read_at_.epoch >= setup_.epochs) exhausted_.store(true, std::memory_order_seq_cst);
    }
  } catch (...) {
    fail_read(record, began);
  }
  issued_.store(number + 1, std::memory_order_seq_cst);
  if (data_.flat_maps)
    to_open_.raise(number + 1);
  else
    publish(record);
  return true;
}

// Counted by the runner that reads, as others read its counters.
void Reordered::note_read(ChainRun& parent, ChainRun& run) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t f = 0; f < parent.cells.size(); ++f)
    bytes += parent.cells[f].shape.elements() * size_of((*parent.schema)[f].dtype);
  run.counters[0].bytes.add(bytes);
  run.reads.copied_bytes.add(parent.totals.copied_bytes.get());
  parent.totals.copied_bytes.set(0);
  run.reads.scratch_bytes.set(std::max<std::uint64_t>(run.reads.scratch_bytes.get(), parent.arena.peak()));
}

// Call inside a catch block. A stream that could not even begin is no matter of one record.
void Reordered::fail_read(SharedRecord& record, bool began) noexcept {
  const OnError policy = data_.policy_value().policy;
  bool goes_on = false;
  try {
    Error error = record.run != nullptr ? chain_.describe_failure(*record.run, record.index) : current_error();
    goes_on = began && error.sample_scoped() && policy != OnError::fail;
    record.outcome.masked = record.outcome.kept = goes_on && policy == OnError::mask;
    (goes_on ? record.outcome.bad : record.outcome.fatal) = std::move(error);
  } catch (...) {  // no memory even to say what failed
    record.broken = true;
  }
  if (goes_on) {
    ++read_at_.position;
  } else {
    record.terminates = true;
    exhausted_.store(true, std::memory_order_seq_cst);
  }
}

// Stands at the record that is wanted, by reading those before it where the stream can't seek.
Reordered::Begun Reordered::begin_stream(ChainRun& parent) {
  stream_->reset(read_at_.epoch);
  if (read_at_.position == 0) return Begun::at_record;
  if (stream_->can_seek()) {
    stream_->seek(read_at_.position);
    return Begun::at_record;
  }
  for (std::uint64_t record = 0; record < read_at_.position; ++record) {
    if (host_.paused()) return Begun::interrupted;
    try {
      if (!chain_.read(parent, *stream_)) return Begun::ended;
    } catch (...) {
      if (!chain_.describe_failure(parent, record).sample_scoped()) throw;
    }
  }
  return Begun::at_record;
}

}  // namespace penstock::detail
