// SPDX-License-Identifier: Apache-2.0
#include "engine/reordered_placement.hpp"

#include <algorithm>
#include <utility>

#include "base/relax.hpp"
#include "pipeline/positions.hpp"

namespace penstock::detail::runtime {

ReorderedPlacement::ReorderedPlacement(const Context& context) : Placement(context) {
  const MemoryPlan& plan = setup_.plan;
  if (const BlockModel* const model = data_.source->block_model(); model != nullptr) {
    const std::size_t in_flight = plan.shared_records != 0 ? plan.shared_records : plan.most().entries;
    blocks_ = std::make_unique<BlockSchedule>(
        *model, plan.block_limit, std::max<std::uint64_t>(in_flight, min_records_in_sight), in_flight,
        BlockRunners{plan.threads, plan.most().threads}, *setup_.memory, std::vector<std::size_t>(), plan.block_option);
  }
  BatchOutlet& outlet = *this;
  ThreadSignals& signals = *this;
  reordered_ =
      std::make_unique<ReorderedWork>(setup_, chain_, stop_, blocks_.get(), ring_, outlet, signals, order_line_);
  ends_.reserve(ring_.most());
  closed_.reserve(ring_.most());
  if (setup_.keeps_places)
    for (const auto& buffer : ring_.all()) buffer->places.resize(rows_);
  if (!data_.after_batch.maps.empty())
    for (const auto& buffer : ring_.all()) buffer->draw_places.resize(rows_);
}

void ReorderedPlacement::begin(const Cursor& cursor, const QuotaCount& count) {
  if (BatchBuffer* const open = reordered_->open_batch_buffer(); open != nullptr) ring_.release(*open);
  set_stalled(false);
  reordered_->reset(cursor, count);
  ends_.clear();
  if (blocks_ != nullptr) blocks_->reset(feed(cursor));
}

void ReorderedPlacement::admit(Lock& lock) noexcept {
  set_stalled(false);
  if (!monitor_.closed && !monitor_.is_paused() && reordered_->has_work()) pool().wake(lock);
  note_idle();
}

std::optional<Idle> ReorderedPlacement::why_idle() noexcept {
  if (reordered_->has_work()) return Idle::threads;
  if (!stalled()) return reordered_->why_idle();
  // If runners stall although the ring has room, `ends_` is full. So they wait for the caller to take an epoch's end.
  if (queue_.empty() && queue_.leased() < ring_.depth()) return Idle::caller;
  return why_no_batch();
}

bool ReorderedPlacement::work(ChainRun& run) noexcept {
  const Turn turn(executor_);
  bool over = false;
  while (!over && !monitor_.is_paused() && !pool().crowded()) {
    if (!reordered_->step(run)) {
      for (int i = 0; i < 256 && !reordered_->has_work(); ++i) relax();
      if (!reordered_->has_work()) break;
    }
    over = turn.over();
  }
  if (blocks_ != nullptr) blocks_->leave(run.blocks.stretch);
  return over;
}

void ReorderedPlacement::help(ChainRun& run) noexcept {
  reordered_->step(run);
  if (blocks_ != nullptr) blocks_->leave(run.blocks.stretch);
}

BlockSchedule::Feed ReorderedPlacement::feed(Cursor at) const {
  Positions positions(data_, setup_.ranges);
  positions.begin(at);
  return [epochs = setup_.epochs, positions](std::vector<std::uint64_t>& out) mutable {
    constexpr std::uint64_t at_once = 256;
    if (epochs != 0 && !positions.endless() && positions.epoch() >= epochs) return;
    out.resize(static_cast<std::size_t>(std::min(at_once, positions.left())));
    positions.fill(0, out);
    positions.skip(out.size());
  };
}

// -- batches --

BatchBuffer* ReorderedPlacement::open_batch() noexcept {
  BatchBuffer* buffer = nullptr;
  {
    const Lock lock(monitor_.mutex);
    buffer = ring_.acquire();
    // Set under the mutex, because `admit`, which ends the stall, runs under it too.
    if (buffer == nullptr) set_stalled(true);
  }
  if (buffer != nullptr)
    buffer->arena.reset();
  else
    monitor_.changed.notify_all();
  return buffer;
}

void ReorderedPlacement::close_batch(BatchBuffer& buffer) noexcept {
  // The parts that `rows_copied` does not count: rows without a sample, and the closing of the batch.
  const auto parts = static_cast<std::uint32_t>(1 + rows_ - buffer.valid);
  for (std::uint64_t row = buffer.valid; row < buffer.rows; ++row) ring_.clear_row(buffer, row);
  {
    const Lock lock(monitor_.mutex);
    queue_.admit(buffer);
    note_idle();
  }
  if (!ring_.runs_stages()) return finish(buffer, parts);
  if (!BatchRing::count_down(buffer, parts)) return;
  // No other runner can retire now, so stages on whole batches must not run here.
  const std::lock_guard lock(closed_mutex_);
  closed_.push_back(&buffer);
}

void ReorderedPlacement::publish_closed() noexcept {
  while (ring_.runs_stages()) {
    BatchBuffer* buffer = nullptr;
    {
      const std::lock_guard lock(closed_mutex_);
      if (closed_.empty()) return;
      buffer = closed_.front();
      closed_.erase(closed_.begin());
    }
    publish_with_stages(*buffer);
  }
}

void ReorderedPlacement::rows_copied(BatchBuffer& buffer, std::uint32_t rows) noexcept {
  if (!ring_.runs_stages()) return finish(buffer, rows);
  if (BatchRing::count_down(buffer, rows)) publish_with_stages(buffer);
}

// While this thread retired, others could not, and may have gone to sleep for lack of work. The stages may take long,
// so the others are woken before.
void ReorderedPlacement::publish_with_stages(BatchBuffer& buffer) noexcept {
  if (has_work()) wake_pool();
  publish(buffer);
}

void ReorderedPlacement::discard_batch(BatchBuffer& buffer) noexcept {
  buffer.discarded = true;
  finish(buffer, static_cast<std::uint32_t>(1 + rows_ - buffer.valid));
}

bool ReorderedPlacement::has_room_for_end() noexcept {
  const Lock lock(monitor_.mutex);
  if (ends_.size() < ring_.depth()) return true;
  set_stalled(true);
  return false;
}

void ReorderedPlacement::end_epoch(EpochEnd end) noexcept {
  {
    const Lock lock(monitor_.mutex);
    ends_.push_back(std::move(end));
  }
  monitor_.changed.notify_all();
}

// -- the consumer --

// Returns whether the epoch's end is known and all its batches are delivered.
bool ReorderedPlacement::epoch_over(std::uint64_t epoch) const noexcept {
  if (ends_.empty() || ends_.front().epoch != epoch) return false;
  return queue_.empty() || queue_.front().epoch != epoch;
}

// Decides which samples of the waiting records are skipped. Releases the mutex for the decision, which is a user's
// code. Returns false if no record waits, or if the run is paused.
bool ReorderedPlacement::answer(Lock& lock) noexcept {
  if (paused() || !reordered_->asks()) return false;
  lock.unlock();
  reordered_->answer();
  lock.lock();
  if (!paused()) pool().wake(lock);
  return true;
}

BatchBuffer* ReorderedPlacement::wait(std::uint64_t epoch) {
  Lock lock(monitor_.mutex);
  const auto arrived = [&] {
    return epoch_over(epoch) || (!queue_.empty() && queue_.front().epoch == epoch &&
                                 queue_.front().state.load(std::memory_order_seq_cst) == BufferState::ready);
  };
  const auto exhausted = [&] { return queue_.empty() && queue_.leased() >= ring_.depth() && stalled(); };
  answer(lock);
  monitor_.waiting.store(true, std::memory_order_seq_cst);
  while (!arrived() && !paused() && !pool().failed() && !exhausted())
    if (!answer(lock)) pool().sleep_or_help(lock, arrived);
  monitor_.waiting.store(false, std::memory_order_relaxed);
  if (paused() || epoch_over(epoch)) return nullptr;
  if (arrived()) return &queue_.front();
  if (pool().failed()) throw *pool().reader_error();
  throw leases_exhausted();
}

std::optional<EpochEnd> ReorderedPlacement::take_epoch_end(std::uint64_t epoch) {
  Lock lock(monitor_.mutex);
  if (monitor_.stopped.load(std::memory_order_relaxed) || !epoch_over(epoch)) return std::nullopt;
  EpochEnd end = std::move(ends_.front());
  ends_.erase(ends_.begin());
  admit(lock);  // there is room for another epoch's end
  return end;
}

void ReorderedPlacement::add_to(RunTotals& t) const {
  const ReorderBuffer& buffer = reordered_->buffer();
  t.kept = buffer.kept();
  t.memory.entries = buffer.rows().count();
  t.memory.entry_bytes = buffer.rows().bytes_each() + buffer.rows().max_appended();
  t.copied_bytes += buffer.appended_bytes() + t.kept * ring_.layout().row().row_bytes();
  t.memory.shared_records = reordered_->shared_records();
  if (blocks_ != nullptr) t.blocks = blocks_->counts();
}

}  // namespace penstock::detail::runtime
