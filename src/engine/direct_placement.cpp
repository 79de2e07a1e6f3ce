// SPDX-License-Identifier: Apache-2.0
#include "engine/direct_placement.hpp"

#include <algorithm>
#include <utility>

#include <penstock/extend/float_mode.hpp>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/relax.hpp"
#include "blocks/block_work.hpp"
#include "chain/source_work.hpp"

namespace penstock::detail::runtime {

namespace {
// The longest time that the consumer waits awake on a core of its own.
constexpr std::uint64_t spin_ns = 20'000;
// If more time than this passes between getting a batch and asking for the next one, the caller does other work between
// batches.
constexpr std::uint64_t busy_ns = 30'000;
// The most samples that a runner takes together if the pool has found samples to be short.
constexpr std::uint64_t max_short_at_once = 4 * max_at_once;
// If the samples that a runner takes together take longer than this in all, they count as long.
constexpr std::uint64_t long_ns = 200'000;
}  // namespace

DirectPlacement::DirectPlacement(const Context& context)
    : Placement(context),
      maker_(chain_, ring_),
      advises_(data_.source->wants_advice()),
      tickets_(rows_, setup_.plan.most().threads + std::uint64_t{2}),
      batches_(setup_) {
  const BlockModel* const model = data_.source->block_model();
  if (model == nullptr) return;
  const std::size_t in_flight = setup_.plan.most().depth * static_cast<std::size_t>(rows_);
  blocks_ = std::make_unique<BlockSchedule>(*model, setup_.plan.block_limit,
                                            std::max<std::uint64_t>(in_flight, min_records_in_sight), in_flight,
                                            BlockRunners{setup_.plan.threads, setup_.plan.most().threads},
                                            *setup_.memory, destination_bytes(), setup_.plan.block_option);
}

void DirectPlacement::begin(const Cursor& cursor, const QuotaCount&) {
  tickets_.reset();
  if (blocks_ != nullptr) blocks_->reset(batches_.feed(cursor));
  advised_.store(0, std::memory_order_relaxed);
  batches_.begin(cursor);
  order_error_.reset();
  if (spare_.cause().empty()) spare_ = no_memory();
}

bool DirectPlacement::more_to_admit() const noexcept {
  return !monitor_.is_paused() && !monitor_.closed && !order_error_ && !batches_.over();
}

std::optional<Idle> DirectPlacement::why_idle() noexcept {
  if (has_work()) return Idle::threads;
  if (blocks_ != nullptr)
    if (const std::optional<Idle> why = blocks_->why_idle()) return why;
  if (admitting_) return Idle::order;
  if (!more_to_admit()) return std::nullopt;
  return ring_.free_count() != 0 ? Idle::order : why_no_batch();
}

// Prepares a batch in each free buffer, and issues the batch's samples. Samples are issued only here. The mutex is
// released while the order is asked, because orders are a user's code and may be slow. One thread at a time admits.
// This thread also prepares batches in buffers that become free meanwhile. One call admits at most as many batches as
// the ring has buffers.
void DirectPlacement::admit(Lock& lock) noexcept {
  if (admitting_) return;
  admitting_ = true;
  for (std::size_t most = ring_.most(); most != 0 && more_to_admit(); --most) {
    BatchBuffer* const buffer = ring_.acquire();
    if (buffer == nullptr) break;
    note_idle();
    lock.unlock();
    bool failed = false;
    std::optional<Error> error;
    try {
      const TracedRange traced(order_line_, "order");
      batches_.prepare(*buffer);
      buffer->left.store(static_cast<std::uint32_t>(rows_) + (advises_ ? 1 : 0), std::memory_order_relaxed);
      if (blocks_ != nullptr) blocks_->prepare(buffer->valid);
    } catch (...) {
      failed = true;
      error = described_error("order");
    }
    lock.lock();
    if (failed || monitor_.is_paused()) {
      ring_.release(*buffer);
      if (failed) order_error_.emplace(error ? std::move(*error) : std::move(spare_));
      break;
    }
    issue(*buffer);
    note_idle();
    pool().wake(lock);
    monitor_.changed.notify_all();
  }
  admitting_ = false;
  note_idle();
  monitor_.changed.notify_all();
}

void DirectPlacement::issue(BatchBuffer& buffer) {
  const std::uint64_t ordinal = queue_.admitted();
  queue_.admit(buffer);
  batches_.go_on_after(buffer);
  if (blocks_ != nullptr)
    blocks_->issue(ordinal * rows_, buffer.valid, rows_, batches_.epoch_of(buffer));
  else
    tickets_.raise((ordinal + 1) * rows_);
}

// -- the consumer --

BatchBuffer* DirectPlacement::wait(std::uint64_t) {
  Lock lock(monitor_.mutex, std::defer_lock);
  const auto paused = [this] { return monitor_.is_paused(); };
  if (queue_.empty()) {
    lock.lock();
    admit(lock);
    monitor_.changed.wait(lock, [&] { return !admitting_ || paused() || !queue_.empty(); });
    if (paused()) return nullptr;
    if (queue_.empty()) {
      if (order_error_) throw *order_error_;
      throw leases_exhausted();
    }
    lock.unlock();
  }
  BatchBuffer& buffer = queue_.front();
  const auto ready = [&] { return buffer.ready(); };
  if (!ready()) wait_awake(buffer);
  if (!ready()) {
    lock.lock();
    pool().leave_if_long(lock);
    monitor_.waiting.store(true, std::memory_order_seq_cst);
    while (!ready() && !paused() && !pool().failed()) pool().sleep_or_help(lock, ready);
    monitor_.waiting.store(false, std::memory_order_relaxed);
    if (!ready() && !paused()) throw *pool().reader_error();
  }
  if (!pool().leaves_a_core()) delivered_ns_ = now_ns();
  return paused() ? nullptr : &buffer;
}

// Waits for the batch without falling asleep, because falling asleep and waking up cost about as much as a batch of
// short samples. If runners leave a core to the consumer, waits at most `spin_ns`. If they leave none and records
// share blocks, returns at once. Otherwise, calls the pool's `join`, and makes samples itself with the ChainRun that
// `join` returns. If `join` returns null, returns at once. A return at once leaves the core to a runner.
void DirectPlacement::wait_awake(const BatchBuffer& buffer) noexcept {
  const std::uint64_t begun = now_ns();
  if (pool().leaves_a_core()) {
    while (!buffer.ready() && !monitor_.is_paused() && now_ns() - begun < spin_ns)
      for (int i = 0; i < 64 && !buffer.ready(); ++i) relax();
  } else if (blocks_ == nullptr) {
    ChainRun* const run = pool().join(begun, begun - delivered_ns_ > busy_ns);
    if (run == nullptr) return;
    const std::uint64_t before = run->counters.totals.samples.get();
    const FloatMode standard;
    work_along(*run, buffer);
    pool().count_joined(run->counters.totals.samples.get() - before, now_ns() - begun);
  }
}

// Makes samples on the consumer's thread until `wanted` is ready, the run is paused, or no tickets are left.
void DirectPlacement::work_along(ChainRun& run, const BatchBuffer& wanted) noexcept {
  while (!wanted.ready() && !monitor_.is_paused()) {
    if (advises_ && advice_waits()) advise(run);
    if (TicketRun tickets = take_tickets(run); tickets.count != 0) {
      BatchBuffer& buffer = queue_.at(tickets.first / rows_);
      if (!make_samples(run, buffer, tickets)) break;
      finish(buffer, static_cast<std::uint32_t>(tickets.count));
    } else {
      for (int i = 0; i < 256 && !wanted.ready() && !tickets_.available(); ++i) relax();
      if (!tickets_.available()) break;
    }
  }
  run.reader->pause();
}

// -- runners --

// Returns true if other tasks wait for a thread and this runner has had its turn.
bool DirectPlacement::work(ChainRun& run) noexcept {
  if (blocks_ != nullptr) return work_in_blocks(run);
  const Turn turn(executor_);
  run.runner.blocked = times_blocked();
  // Counts several rows of a batch together. (With `map_batches`, counts before it takes the next tickets. Otherwise
  // their samples might wait until a function ends.) Counting each row alone would cost more, because the count is in
  // memory that all runners share.
  BatchBuffer* buffer = nullptr;
  std::uint32_t made = 0;
  const auto count = [&] {
    if (made != 0) finish(*buffer, made);
    made = 0;
  };
  for (;;) {
    if (monitor_.is_paused()) return false;
    if (pool().crowded()) {
      count();
      return false;
    }
    if (advises_ && advice_waits()) {
      count();  // finished rows must not wait for the advice
      advise(run);
    }
    TicketRun tickets = take_tickets(run);
    if (tickets.count == 0) {
      count();
      // The consumer may be about to release a batch. Waiting for that costs less than waking a sleeping thread.
      for (int i = 0; i < 256 && !tickets_.available(); ++i) relax();
      tickets = tickets_.take(1);
      if (tickets.count == 0) return false;
    }
    if (BatchBuffer* const next = &queue_.at(tickets.first / rows_); next != buffer) {
      count();
      buffer = next;
    }
    if (!make_samples(run, *buffer, tickets)) return false;
    made += static_cast<std::uint32_t>(tickets.count);
    if (ring_.runs_stages()) count();
    if (turn.over()) {
      count();
      return true;
    }
  }
}

// Advice counts as work too, because all tickets of a batch may be taken before a runner gives the batch's advice.
bool DirectPlacement::has_work() noexcept {
  return (blocks_ != nullptr ? blocks_->available() : tickets_.available()) || (advises_ && advice_waits());
}

bool DirectPlacement::advice_waits() const noexcept {
  return advised_.load(std::memory_order_relaxed) < queue_.admitted();
}

// Announces the records of an admitted batch to the source. The advice is one of the batch's parts, so the batch and
// its indices stay until the advice is done.
bool DirectPlacement::advise(ChainRun& run) noexcept {
  std::uint64_t ordinal = advised_.load(std::memory_order_relaxed);
  do {
    if (ordinal >= queue_.admitted()) return false;
  } while (!advised_.compare_exchange_weak(ordinal, ordinal + 1, std::memory_order_relaxed));
  // For the exchange, relaxed order is enough. `queue_.admitted()` has already made the buffer visible to this thread,
  // and the buffer stays because it waits for its advice.
  BatchBuffer& buffer = queue_.at(ordinal);
  if (buffer.valid != 0) detail::runtime::advise(*data_.source, run, {buffer.indices.data(), buffer.valid});
  finish(buffer, 1);
  return true;
}

TicketRun DirectPlacement::take_tickets(const ChainRun& run) noexcept {
  const std::uint64_t most = pool().short_samples() ? max_short_at_once : max_at_once;
  return tickets_.take(tickets_at_once(run.counters.sample_ns, most), pool().shares());
}

// Makes the samples of `tickets`. Returns false if the run is paused, because then the batch is given up. If samples
// turn out to be long, gives back the tickets whose samples were not begun, and takes them out of `tickets`.
bool DirectPlacement::make_samples(ChainRun& run, BatchBuffer& buffer, TicketRun& tickets) noexcept {
  const std::uint64_t begin = tickets.first % rows_, end = begin + tickets.count;
  if (tickets.count > 1 && begin < buffer.valid)
    run.reader->expect(std::span(buffer.indices).subspan(begin, std::min(end, buffer.valid) - begin));
  const bool timed = tickets.count > 4 || pool().short_samples();
  const std::uint64_t begun = timed ? now_ns() : 0;
  std::uint64_t tick = tickets.count > 1 ? coarse_now_ns() : 0;
  for (std::uint64_t row = begin; row < end; ++row) {
    if (row != begin) {
      if (monitor_.is_paused()) return false;
      if (const std::uint64_t now = row % 2 == 0 ? coarse_now_ns() : tick; now != tick) [[unlikely]] {
        tick = now;
        if (timed && now_ns() - begun > long_ns && tickets_.give_back({tickets.first + (row - begin), end - row})) {
          tickets.count = row - begin;
          run.reader->expect({});
          break;
        }
      }
    }
    maker_.make(run, buffer, row, tickets.first + (row - begin));
  }
  if (!timed) return true;
  // If samples became much longer, corrects the estimate now. Otherwise, runners would take too many tickets together
  // until a chain is measured.
  const std::uint64_t took = now_ns() - begun, each = took / tickets.count;
  if (tickets.count > 4 && each > 4 * run.counters.sample_ns) run.counters.sample_ns = each;
  if (took > long_ns) note_long(run);
  return true;
}

// Reports to the pool that samples took long, and whether the runner waited since `runner.blocked` was last set.
// Waiting for a core does not count.
void DirectPlacement::note_long(ChainRun& run) noexcept {
  const std::uint64_t blocked = times_blocked();
  pool().note_long(blocked != std::exchange(run.runner.blocked, blocked));
}

void DirectPlacement::help(ChainRun& run) noexcept {
  if (blocks_ != nullptr) {
    help_in_blocks(run);
    return;
  }
  if (advises_) advise(run);
  TicketRun tickets = tickets_.take(1);
  if (tickets.count == 0) return;
  BatchBuffer& buffer = queue_.at(tickets.first / rows_);
  if (make_samples(run, buffer, tickets)) finish(buffer, 1);
}

// -- runners, if records share blocks: they load blocks, and make samples whose blocks are loaded --

// Returns one number for each field of the source. If the field's values are read straight into rows of a fixed size in
// the batch, the number is the bytes of a row. Otherwise it is 0.
std::vector<std::size_t> DirectPlacement::destination_bytes() const {
  std::vector<std::size_t> bytes(data_.source_schema.size());
  for (const Step::Destination& destination : chain_.steps().front()->destinations)
    if (const RowField& field = ring_.layout().row()[destination.row]; field.kind == RowField::Kind::dense)
      bytes[destination.slot] = field.row_bytes;
  return bytes;
}

// Returns the memory of the rows to which a block is decoded; null if the block does not go into a batch.
std::byte* DirectPlacement::destination_of(const Residency& load) const noexcept {
  if (!load.in_batch) return nullptr;
  const Step& read = *chain_.steps().front();
  const auto destination = std::ranges::find(read.destinations, load.field, &Step::Destination::slot);
  return ring_.address(queue_.at(load.first_user / rows_), destination->row, load.first_user % rows_);
}

// Returns true if other tasks wait for a thread and this runner has had its turn.
bool DirectPlacement::work_in_blocks(ChainRun& run) noexcept {
  const Turn turn(executor_);
  bool over = false;
  while (!over && !monitor_.is_paused() && !pool().crowded()) {
    if (!step_in_blocks(run)) {
      for (int i = 0; i < 256 && !has_work(); ++i) relax();
      if (!has_work()) break;
    }
    over = turn.over();
  }
  blocks_->leave(run.blocks.stretch);
  return over;
}

void DirectPlacement::help_in_blocks(ChainRun& run) noexcept {
  step_in_blocks(run);
  blocks_->leave(run.blocks.stretch);
}

// Returns false if there is no work.
bool DirectPlacement::step_in_blocks(ChainRun& run) noexcept {
  if (advises_) advise(run);
  BlockSchedule::Work work = blocks_->take(run.blocks.stretch);
  if (!work) return false;
  if (work.load != nullptr) {
    std::byte* const destination = destination_of(*work.load);
    if (work_on_block(*blocks_, run, std::move(work), destination)) wake_pool();
    return true;
  }
  const std::uint64_t number = *work.sample, row = number % rows_;
  BatchBuffer& buffer = queue_.at(number / rows_);
  if (row < buffer.valid) lend_blocks(*blocks_, run, number, buffer.indices[row]);
  TicketRun one{number, 1};
  if (!make_samples(run, buffer, one)) return true;
  if (blocks_->done(number)) wake_pool();
  finish(buffer, 1);
  return true;
}

void DirectPlacement::add_to(RunTotals& totals) const {
  totals.kept = totals.samples.all;
  if (blocks_ != nullptr) totals.blocks = blocks_->counts();
}

}  // namespace penstock::detail::runtime
