#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/relax.hpp"
#include "engine/engine.hpp"
#include "pipeline/make.hpp"

// A runner's work where every position is one sample, whose row is known when its ticket is issued.
namespace penstock::detail {

namespace {

/// Rows without a size of their own go to the batch at once.
class SlotOutlet final : public RowOutlet {
 public:
  explicit SlotOutlet(Slot& slot) : slot_(slot) {}
  std::byte* append(std::size_t bytes) override {
    try {
      return slot_.arena.append(bytes);
    } catch (...) {
      Slots::note_overflow(slot_);
      throw;
    }
  }

 private:
  Slot& slot_;
};

}  // namespace

// True: others wait for a thread, and this one has had its turn.
bool Engine::work_directly(ChainRun& run) noexcept {
  if (blocks_ != nullptr) return work_in_blocks(run);
  const std::uint64_t begun = now_ns();
  // What this runner has made of one batch is counted at once, when it turns to another: the batch can't be ready
  // before, and the count is in memory that all runners share.
  Slot* slot = nullptr;
  std::uint32_t made = 0;
  const auto count = [&] {
    if (made != 0) finish_parts(*slot, made);
    made = 0;
  };
  for (;;) {
    if (paused_.load(std::memory_order_relaxed)) return false;
    if (advises_ && advice_waits()) {
      count();  // what is made must not wait for it
      advise();
    }
    TicketRun tickets = tickets_.take(tickets_at_once(run.sample_ns));
    if (tickets.count == 0) {
      count();
      // A consumer that is about to give a batch back costs less to await than a sleeping thread to wake.
      for (int i = 0; i < 256 && !tickets_.available(); ++i) relax();
      tickets = tickets_.take(1);
      if (tickets.count == 0) return false;
    }
    if (Slot* const next = &slot_of(tickets.first / rows_); next != slot) {
      count();
      slot = next;
    }
    if (!make_samples(run, *slot, tickets)) return false;
    made += static_cast<std::uint32_t>(tickets.count);
    if (executor_->waiting() != 0 && now_ns() - begun > turn_ns) {
      count();
      return true;
    }
  }
}

// The last tickets of a batch may be taken before its advice is.
bool Engine::has_direct_work() const noexcept {
  return (blocks_ != nullptr ? blocks_->available() : tickets_.available()) || (advises_ && advice_waits());
}

bool Engine::advice_waits() const noexcept {
  return advised_.load(std::memory_order_relaxed) < admitted_.load(std::memory_order_acquire);
}

// Tells the source which records an admitted batch will want. It counts as one of the batch's parts, so the batch, and
// with it the list of indices, stays until it is done.
bool Engine::advise() noexcept {
  std::uint64_t ordinal = advised_.load(std::memory_order_relaxed);
  do {
    if (ordinal >= admitted_.load(std::memory_order_acquire)) return false;
  } while (!advised_.compare_exchange_weak(ordinal, ordinal + 1, std::memory_order_relaxed));
  // Relaxed, as the number alone is exchanged: the slot behind it was published by `admitted_`, and stays, as its
  // advice is one of the parts that it waits for.
  Slot& slot = slot_of(ordinal);
  if (slot.valid != 0) data_->source->will_need({slot.indices.data(), slot.valid});
  finish_parts(slot, 1);
  return true;
}

// False: the batch is given up, whatever becomes of it.
bool Engine::make_samples(ChainRun& run, Slot& slot, TicketRun tickets) noexcept {
  const std::uint64_t begin = tickets.first % rows_, end = begin + tickets.count;
  if (tickets.count > 1 && begin < slot.valid)
    run.reader->expect(std::span(slot.indices).subspan(begin, std::min(end, slot.valid) - begin));
  const std::uint64_t begun = tickets.count > 4 ? now_ns() : 0;
  for (std::uint64_t row = begin; row < end; ++row) {
    if (row != begin && paused_.load(std::memory_order_relaxed)) return false;
    if (row < slot.valid) {
      try {
        fill_row(run, slot, row, tickets.first + (row - begin));
      } catch (...) {  // no memory even to say what failed
        slots_.clear_row(slot, row);
        slot.broken.store(true, std::memory_order_relaxed);
      }
    } else if (row < slot.rows) {
      slots_.clear_row(slot, row);
    }
  }
  // Samples that became long must not be taken together once more before one of them happens to be measured.
  if (begun != 0)
    if (const std::uint64_t each = (now_ns() - begun) / tickets.count; each > 4 * run.sample_ns) run.sample_ns = each;
  return true;
}

void Engine::fill_row(ChainRun& run, Slot& slot, std::uint64_t row, std::uint64_t ticket) {
  for (std::size_t f = 0; f < run.rows.size(); ++f) run.rows[f] = slots_.place(slot, f, row);
  SlotOutlet outlet(slot);
  run.outlet = &outlet;
  const std::uint64_t index = slot.indices[row];
  Made made;
  make_sample(
      *data_, data_->place_at(slot.epoch, slot.first + row), index, made,
      [&](const Place& place, std::uint64_t of) {
        return chain_.run(run, place, of, run.rows,
                          place.attempt == 0 ? measures(ticket, run.totals.measured.get(), run.sample_ns) : 0);
      },
      [&](std::uint64_t of) {
        run.copied_bytes = 0;
        return chain_.describe_failure(run, of);
      });
  const bool cleared = made.masked || made.fatal;
  if (!cleared && slots_.layout().row().varying() != 0) note_varying(run, slot, row);
  if (made.attempt == 0 && !made.bad && !made.fatal) [[likely]]
    return;
  if (cleared) {
    slots_.clear_row(slot, row);
    slot.mask[row] = 0;
  }
  if (made.bad) fail_row(slot, row, std::move(*made.bad), false);
  if (made.fatal) return fail_row(slot, row, std::move(*made.fatal), true);
  if (made.attempt == 0) return;
  const std::lock_guard lock(slot.bad_mutex);
  slot.replaced.push_back({row, made.index});
}

void Engine::note_varying(const ChainRun& run, Slot& slot, std::uint64_t row) noexcept {
  for (std::size_t f = 0; f < slots_.layout().fields(); ++f) {
    const RowField& field = slots_.layout().row()[f];
    if (field.kind == RowField::Kind::dense) continue;
    const RaggedRow& made = run.varying[field.varying];
    slots_.layout().note(slot, f, row, made.data, made.shape);
  }
}

void Engine::help_directly(ChainRun& run) noexcept {
  if (blocks_ != nullptr) {
    step_in_blocks(run);
    return;
  }
  if (advises_) advise();
  const TicketRun tickets = tickets_.take(1);
  if (tickets.count == 0) return;
  Slot& slot = slot_of(tickets.first / rows_);
  if (make_samples(run, slot, tickets)) finish_parts(slot, 1);
}

void Engine::fail_row(Slot& slot, std::uint64_t row, Error error, bool fatal) {
  const std::lock_guard lock(slot.bad_mutex);
  slot.bad.push_back({row, std::move(error), fatal});
}

}  // namespace penstock::detail
