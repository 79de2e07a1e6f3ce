#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "reorder/settled.hpp"

// How samples, and the origins they share, are made.
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

/// Rows without a size of their own wait with their cell.
class CellOutlet final : public RowOutlet {
 public:
  explicit CellOutlet(SettleRow& row) noexcept : row_(row) {}
  std::byte* append(std::size_t bytes) override { return row_.arena.allocate(bytes); }

 private:
  SettleRow& row_;
};

}  // namespace

void Settled::make(ChainRun& run, TicketRun tickets) noexcept {
  if (tickets.count > 1 && !origins_) {
    std::array<std::uint64_t, most_at_once> indices{};
    for (std::uint64_t i = 0; i < tickets.count; ++i) indices[i] = settle_.cell(tickets.first + i).index;
    run.reader->expect({indices.data(), static_cast<std::size_t>(tickets.count)});
  }
  const std::uint64_t begun = tickets.count > 4 ? now_ns() : 0;
  for (std::uint64_t i = 0; i < tickets.count; ++i) {
    if (i != 0 && host_.paused()) return;
    SettleCell& cell = settle_.cell(tickets.first + i);
    try {
      make_cell(run, cell, tickets.first + i);
    } catch (...) {  // no memory even to say what failed
      cell.broken = true;
    }
    run.parent = nullptr;
    if (cell.origin != nullptr) leave(*cell.origin);
    if (!origins_) give_back_blocks(tickets.first + i);
    settle_.finish(cell);
  }
  // Samples that became long must not be taken together once more before one of them happens to be measured.
  if (begun != 0)
    if (const std::uint64_t each = (now_ns() - begun) / tickets.count; each > 4 * run.sample_ns) run.sample_ns = each;
}

void Settled::make_cell(ChainRun& run, SettleCell& cell, std::uint64_t ticket) {
  Origin* const origin = cell.origin;
  if (cell.skipped) {
    cell.made.kept = false;
  } else if (cell.decided) {
    cell.made = std::move(origin->made);
    cell.broken = origin->broken;
    cell.made.kept = cell.made.masked;  // what was made has no samples
  } else if (!cell.made.fatal) {
    for (std::size_t f = 0; f < run.rows.size(); ++f) run.rows[f] = settle_.place(cell, f);
    if (origin != nullptr && cell.place.child == 0) cell.made.bad = std::move(origin->made.bad);
    CellOutlet outlet(*cell.row);
    run.outlet = &outlet;
    const std::uint32_t attempt = cell.place.attempt;
    const ChainRun* at_work = &run;
    make_sample(
        *data_, cell.place, cell.index, cell.made,
        [&](const Place& place, std::uint64_t index) {
          at_work = &run;
          cell.row->arena.reset();
          const std::uint64_t stands_for =
              place.attempt == attempt ? measures(ticket, run.totals.measured.get(), run.sample_ns) : 0;
          return origin != nullptr ? make_child(run, *origin, place, index, stands_for, at_work)
                                   : chain_.run(run, place, index, run.rows, stands_for);
        },
        [&](std::uint64_t index) {
          run.copied_bytes = 0;
          if (run.stand_in != nullptr) run.stand_in->copied_bytes = 0;
          return chain_.describe_failure(*at_work, index);
        });
  }
  if (cell.made.masked)
    settle_.clear(cell);
  else if (cell.made.kept && !cell.made.fatal)
    settle_.note(cell, run.varying);
}

// A child of its origin, or, where another record is tried in its place, of that one, which is made for it alone.
bool Settled::make_child(ChainRun& run, const Origin& origin, const Place& place, std::uint64_t index,
                         std::uint64_t stands_for, const ChainRun*& at_work) {
  run.parent = origin.run.get();
  run.child = place.child;
  if (place.attempt != origin.made.attempt) {
    if (run.stand_in == nullptr) {
      run.stand_in = std::make_unique<ChainRun>(chain_, options_.scratch_limit, nullptr, chain_.children_begin());
      run.stand_in->stop = options_.stop;
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

void Settled::leave(Origin& origin) noexcept {
  if (origin.left.fetch_sub(1, std::memory_order_acq_rel) == 1) origin.vacant.store(true, std::memory_order_seq_cst);
}

// -- origins --

ChainRun& Settled::run_of(Origin& origin) {
  if (origin.run == nullptr) {
    origin.run = std::make_unique<ChainRun>(chain_, options_.origin_limit, nullptr, chain_.children_begin());
    origin.run->stop = options_.stop;
  }
  return *origin.run;
}

void Settled::open(ChainRun& run, std::uint64_t number) noexcept {
  Origin& origin = origins_->at(number);
  try {
    if (!origin.terminates && !origin.broken && !origin.made.fatal && !origin.made.bad)
      open_origin(run, origin, number);
  } catch (...) {  // no memory even to say what failed
    origin.broken = true;
  }
  give_back_blocks(number);
  publish(origin);
}

void Settled::open_origin(ChainRun& run, Origin& origin, std::uint64_t number) {
  ChainRun& parent = run_of(origin);
  const LentReader lent(run, parent);
  make_sample(
      *data_, {origin.epoch, origin.position, 0, 0}, origin.index, origin.made,
      [&](const Place& place, std::uint64_t index) {
        const bool first = place.attempt == 0;
        const bool kept = chain_.open(parent, place, index,
                                      first ? measures(number, run.parents.measured.get(), parent.sample_ns) : 0);
        origin.count = kept ? chain_.count(parent, place, index) : 0;
        return kept;
      },
      [&](std::uint64_t index) {
        parent.copied_bytes = 0;
        return chain_.describe_failure(parent, index);
      });
  collect(parent, run);
}

// The counters of origins are kept by the runner that makes them, as others read those.
void Settled::collect(ChainRun& parent, ChainRun& run) noexcept {
  const auto move = [](Tally& from, Tally& to) {
    to.add(from.get());
    from.set(0);
  };
  for (std::size_t i = 0; i < chain_.children_begin(); ++i) {
    move(parent.counters[i].cpu_ns, run.counters[i].cpu_ns);
    move(parent.counters[i].bytes, run.counters[i].bytes);
    move(parent.counters[i].wait_ns, run.counters[i].wait_ns);
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

bool Settled::can_read() noexcept {
  return !exhausted_.load(std::memory_order_seq_cst) && !issuing_.load(std::memory_order_seq_cst) &&
         origins_->at(issued_.load(std::memory_order_seq_cst)).vacant.load(std::memory_order_seq_cst);
}

// Some records, by one runner at a time.
bool Settled::read(ChainRun& run) noexcept {
  if (!can_read() || issuing_.exchange(true, std::memory_order_seq_cst)) return false;
  WaitWatch watch(read_ns_ > read_worth_asking_ns);
  const Clocks begun = read_clocks();
  unsigned count = 0;
  while (count < records_at_once && !host_.paused() && !exhausted_.load(std::memory_order_relaxed) &&
         origins_->at(issued_.load(std::memory_order_relaxed)).vacant.load(std::memory_order_seq_cst) &&
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
bool Settled::read_one(ChainRun& run) noexcept {
  const std::uint64_t number = issued_.load(std::memory_order_relaxed);
  Origin& origin = origins_->take(number);
  origin.epoch = read_at_.epoch;
  origin.position = origin.index = origin.made.index = read_at_.position;
  origin.count = 1;
  bool began = stream_begun_;
  try {
    ChainRun& parent = run_of(origin);
    parent.at = &chain_.steps()[0].label;
    const Begun begun = began ? Begun::at_record : begin_stream(parent);
    if (begun == Begun::interrupted) {
      origin.vacant.store(true, std::memory_order_seq_cst);
      return false;
    }
    stream_begun_ = began = true;
    if (begun == Begun::at_record && chain_.read(parent, *stream_)) {
      ++read_at_.position;
      note_read(parent, run);
    } else {
      origin.end = origin.terminates = true;
      read_at_ = {read_at_.epoch + 1, 0, 0, 0};
      stream_begun_ = false;
      if (options_.epochs != 0 && read_at_.epoch >= options_.epochs) exhausted_.store(true, std::memory_order_seq_cst);
    }
  } catch (...) {
    fail_read(origin, began);
  }
  issued_.store(number + 1, std::memory_order_seq_cst);
  if (data_->flat_maps)
    to_open_.raise(number + 1);
  else
    publish(origin);
  return true;
}

// Counted by the runner that reads, as others read its counters.
void Settled::note_read(ChainRun& parent, ChainRun& run) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t slot = 0; slot < parent.cells.size(); ++slot)
    bytes += parent.cells[slot].shape.elements() * size_of((*parent.schema)[slot].dtype);
  run.counters[0].bytes.add(bytes);
  run.reads.copied_bytes.add(parent.totals.copied_bytes.get());
  parent.totals.copied_bytes.set(0);
  run.reads.scratch_bytes.set(std::max<std::uint64_t>(run.reads.scratch_bytes.get(), parent.arena.peak()));
}

// Call inside a catch block. A stream that could not even begin is no matter of one record.
void Settled::fail_read(Origin& origin, bool began) noexcept {
  const OnError policy = data_->policy_value().policy;
  bool goes_on = false;
  try {
    Error error = origin.run != nullptr ? chain_.describe_failure(*origin.run, origin.index) : current_error();
    goes_on = began && error.sample_scoped() && policy != OnError::fail;
    origin.made.masked = origin.made.kept = goes_on && policy == OnError::mask;
    (goes_on ? origin.made.bad : origin.made.fatal) = std::move(error);
  } catch (...) {  // no memory even to say what failed
    origin.broken = true;
  }
  if (goes_on) {
    ++read_at_.position;
  } else {
    origin.terminates = true;
    exhausted_.store(true, std::memory_order_seq_cst);
  }
}

// Stands at the record that is wanted, by reading those before it where the stream can't seek.
Settled::Begun Settled::begin_stream(ChainRun& parent) {
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
