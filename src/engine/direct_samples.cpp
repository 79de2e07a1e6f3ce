#include "engine/direct_placement.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/relax.hpp"
#include "chain/source_work.hpp"
#include "pipeline/outcome.hpp"

// How runners make samples in their rows.
namespace penstock::detail {

namespace {

// How many samples that are short for certain a runner takes at once.
constexpr std::uint64_t max_short_at_once = 4 * max_at_once;
// No samples that are taken together for short ones should take so long.
constexpr std::uint64_t long_ns = 200'000;

/// Rows without a size of their own go to the batch at once.
class BufferOutlet final : public RowOutlet {
 public:
  explicit BufferOutlet(BatchBuffer& buffer) : buffer_(buffer) {}
  std::byte* append(std::size_t bytes) override {
    try {
      return buffer_.arena.append(bytes);
    } catch (...) {
      BatchRing::note_overflow(buffer_);
      throw;
    }
  }

 private:
  BatchBuffer& buffer_;
};

}  // namespace

// True: others wait for a thread, and this one has had its turn.
bool DirectPlacement::work(ChainRun& run) noexcept {
  if (blocks_ != nullptr) return work_in_blocks(run);
  const Turn turn(executor_);
  run.runner.blocked = times_blocked();
  // What this runner has made of one batch is counted at once, when it turns to another: the batch can't be ready
  // before, and the count is in memory that all runners share.
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
      count();  // what is made must not wait for it
      advise(run);
    }
    TicketRun tickets = take_tickets(run);
    if (tickets.count == 0) {
      count();
      // A consumer that is about to give a batch back costs less to await than a sleeping thread to wake.
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
    if (turn.over()) {
      count();
      return true;
    }
  }
}

// The last tickets of a batch may be taken before its advice is.
bool DirectPlacement::has_work() noexcept {
  return (blocks_ != nullptr ? blocks_->available() : tickets_.available()) || (advises_ && advice_waits());
}

bool DirectPlacement::advice_waits() const noexcept {
  return advised_.load(std::memory_order_relaxed) < queue_.admitted();
}

// Tells the source which records an admitted batch will want. It counts as one of the batch's parts, so the batch, and
// with it the list of indices, stays until it is done.
bool DirectPlacement::advise(ChainRun& run) noexcept {
  std::uint64_t ordinal = advised_.load(std::memory_order_relaxed);
  do {
    if (ordinal >= queue_.admitted()) return false;
  } while (!advised_.compare_exchange_weak(ordinal, ordinal + 1, std::memory_order_relaxed));
  // Relaxed, as the number alone is exchanged: the buffer after it was published by the queue, and stays, as its
  // advice is one of the parts that it waits for.
  BatchBuffer& buffer = queue_.at(ordinal);
  if (buffer.valid != 0) detail::advise(*data_.source, run, {buffer.indices.data(), buffer.valid});
  finish(buffer, 1);
  return true;
}

TicketRun DirectPlacement::take_tickets(const ChainRun& run) noexcept {
  const std::uint64_t most = pool().short_samples() ? max_short_at_once : max_at_once;
  return tickets_.take(tickets_at_once(run.counters.sample_ns, most), pool().shares());
}

// False: the batch is given up, whatever becomes of it. Samples that turn out to be long are left to others, and
// `tickets` are those that are made.
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
    if (row < buffer.valid) {
      try {
        fill_row(run, buffer, row, tickets.first + (row - begin));
      } catch (...) {  // no memory even to say what failed
        ring_.clear_row(buffer, row);
        buffer.broken.store(true, std::memory_order_relaxed);
      }
    } else if (row < buffer.rows) {
      ring_.clear_row(buffer, row);
    }
  }
  if (!timed) return true;
  // Samples that became long must not be taken together once more before one of them happens to be measured.
  const std::uint64_t took = now_ns() - begun, each = took / tickets.count;
  if (tickets.count > 4 && each > 4 * run.counters.sample_ns) run.counters.sample_ns = each;
  if (took > long_ns) note_long(run);
  return true;
}

// Tells the pool whether the runner waited meanwhile; to have no core is no waiting.
void DirectPlacement::note_long(ChainRun& run) noexcept {
  const std::uint64_t blocked = times_blocked();
  pool().note_long(blocked != std::exchange(run.runner.blocked, blocked));
}

void DirectPlacement::fill_row(ChainRun& run, BatchBuffer& buffer, std::uint64_t row, std::uint64_t ticket) {
  for (std::size_t f = 0; f < run.row.fields.size(); ++f) run.row.fields[f] = ring_.address(buffer, f, row);
  BufferOutlet outlet(buffer);
  if (ring_.layout().row().varying() != 0) run.append_to(outlet);
  const std::uint64_t index = buffer.indices[row];
  Outcome outcome;
  Attempts attempts(data_, positions_.place(buffer.epoch, buffer.first + row), index, outcome);
  while (!attempts.over()) {
    const Place& place = attempts.place();
    try {
      attempts.made(chain_.run(run, place, attempts.index(), run.row.fields,
                               place.attempt == 0 ? run.counters.stands_for(ticket) : 0));
    } catch (...) {
      run.copied_bytes = 0;
      attempts.failed(chain_.describe_failure(run, attempts.index()));
    }
  }
  const bool cleared = outcome.masked || outcome.fatal;
  if (!cleared && ring_.layout().row().varying() != 0) note_varying(run, buffer, row);
  if (outcome.attempt == 0 && !outcome.bad && !outcome.fatal) [[likely]]
    return;
  if (cleared) {
    ring_.clear_row(buffer, row);
    buffer.mask[row] = 0;
  }
  if (outcome.bad) fail_row(buffer, row, std::move(*outcome.bad), false);
  if (outcome.fatal) return fail_row(buffer, row, std::move(*outcome.fatal), true);
  if (outcome.attempt == 0) return;
  const std::lock_guard lock(buffer.bad_mutex);
  buffer.replaced.push_back({row, outcome.index});
}

void DirectPlacement::note_varying(const ChainRun& run, BatchBuffer& buffer, std::uint64_t row) noexcept {
  for (std::size_t f = 0; f < ring_.layout().fields(); ++f) {
    const RowField& field = ring_.layout().row()[f];
    if (field.kind == RowField::Kind::dense) continue;
    const RaggedRow& made = run.row.varying[field.varying];
    ring_.layout().note(buffer, f, row, made.data, made.shape);
  }
}

// On the consumer's thread: until the batch that it waits for is ready, or runners have taken all there is.
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

void DirectPlacement::fail_row(BatchBuffer& buffer, std::uint64_t row, Error error, bool fatal) {
  const std::lock_guard lock(buffer.bad_mutex);
  buffer.bad.push_back({row, std::move(error), fatal});
}

}  // namespace penstock::detail
