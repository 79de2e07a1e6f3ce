// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "engine/direct_placement.hpp"
#include "engine/reordered_placement.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

Engine::Engine(RunSetup setup, Executor::Impl& executor)
    : setup_(std::move(setup)),
      chain_(setup_.data),
      ring_(data().schema, max_rows_of_rank(data()), setup_.plan.depth,
            setup_.buffer_memory != nullptr ? *setup_.buffer_memory : *setup_.memory, setup_.plan.buffer_limit,
            setup_.memory, setup_.plan.most().depth),
      queue_(ring_.most()),
      batch_stages_(data(), ring_.layout(), setup_.stages_in_place, stop_source_.get_token()),
      executor_(executor),
      settings_(setup_.plan.first()) {
  if (setup_.plan.growth && setup_.has_threads_alone) executor_.use(settings_.threads);
  if (setup_.trace != nullptr) ring_.show(*setup_.trace);
  if (!batch_stages_.empty()) ring_.set_stages(&batch_stages_);
  const Placement::Context context{setup_, chain_, ring_, queue_, monitor_, executor, stop_source_.get_token()};
  if (data().reordered())
    placement_ = std::make_unique<ReorderedPlacement>(context);
  else
    placement_ = std::make_unique<DirectPlacement>(context);
}

Engine::~Engine() = default;

void Engine::seek(Cursor cursor, const QuotaCount& count) {
  Lock lock(monitor_.mutex);
  placement_->note_idle();  // before the buffers are released, because `ready_ns` of the next batch is read
  monitor_.paused.store(true, std::memory_order_seq_cst);
  monitor_.changed.wait(lock, [this] { return placement_->pool().idle() && !placement_->admitting(); });
  queue_.reset([this](BatchBuffer& unread) { ring_.release(unread); });
  placement_->pool().forget_failures();
  placement_->begin(cursor, count);
  monitor_.paused.store(false, std::memory_order_seq_cst);
  // `stop` may run at the same time. It sets `stopped` before `paused`, so either this thread sees `stopped`, or `stop`
  // sets `paused` later.
  if (monitor_.stopped.load(std::memory_order_seq_cst)) monitor_.paused.store(true, std::memory_order_seq_cst);
  placement_->admit(lock);
}

BatchBuffer* Engine::wait(std::uint64_t epoch) {
  if (!waited_) {
    const Lock lock(monitor_.mutex);
    placement_->idle().begin(now_ns());
    waited_ = true;
  }
  BatchBuffer* const buffer = placement_->wait(epoch);
  if (buffer == nullptr || batch_stages_.empty()) return buffer;
  batch_stages_.run_on_caller(*buffer);
  return stopped() ? nullptr : buffer;  // a function that saw the stop may have left its batch unfinished
}

void Engine::lease(BatchBuffer& buffer) {
  Lock lock(monitor_.mutex);
  ring_.lease(buffer);
  queue_.deliver();
  placement_->note_idle();
  placement_->idle().take();
  placement_->pool().look_at_waits(lock, coarse_now_ns());
}

void Engine::release(BatchBuffer& buffer) noexcept {
  Lock lock(monitor_.mutex);
  ring_.release(buffer);
  queue_.give_back();
  if (!monitor_.closed) placement_->admit(lock);
}

void Engine::stop() noexcept {
  // Sets both flags before the request. Work that sees the request leaves its sample unfinished, so the code that takes
  // the batch must see `stopped` or `paused`.
  monitor_.stopped.store(true, std::memory_order_seq_cst);
  monitor_.paused.store(true, std::memory_order_seq_cst);
  stop_source_.request_stop();
  monitor_.notify();
}

void Engine::interrupt() noexcept {
  {
    const Lock lock(monitor_.mutex);
    monitor_.paused.store(true, std::memory_order_seq_cst);
  }
  monitor_.changed.notify_all();
}

void Engine::change(const TunedSettings& settings) {
  ring_.prepare_to_grow(settings.depth);
  if (settings.entries != settings_.entries) placement_->prepare_entries(settings.entries);
  if (setup_.has_threads_alone) executor_.use(settings.threads);
  {
    Lock lock(monitor_.mutex);
    if (monitor_.closed) return;
    ring_.set_depth(settings.depth);
    placement_->raise_block_limit(settings.block_limit);
    placement_->set_threads(lock, settings.threads);
    placement_->admit(lock);
  }
  settings_ = settings;
  trim();
}

bool Engine::trim() noexcept {
  const bool free_replaced = placement_ == nullptr || placement_->free_replaced();
  return ring_.trim(monitor_.mutex) && free_replaced;
}

void Engine::close() noexcept {
  if (placement_ == nullptr) return;
  stop();
  placement_->pool().cut_link();
  std::unique_ptr<Placement> placement;  // destroyed without the mutex, because readers and streams are a user's code
  std::vector<std::unique_ptr<ChainRun>> runs;
  Lock lock(monitor_.mutex);
  monitor_.closed = true;
  monitor_.changed.wait(lock, [this] { return placement_->pool().idle() && !placement_->admitting(); });
  runs = placement_->pool().take_runs();
  placement.swap(placement_);
  lock.unlock();
  runs.clear();
}

RunTotals Engine::totals() const {
  const Lock lock(monitor_.mutex);
  RunTotals totals;
  totals.steps.resize(chain_.all_steps().size());
  totals.batch_stages = batch_stages_.counts();
  placement_->pool().add_to(totals);
  placement_->add_to(totals);
  placement_->note_idle(now_ns());
  totals.idle = placement_->idle().counts();
  totals.memory.depth = ring_.depth();
  totals.threads = placement_->pool().threads();
  totals.memory.buffer_bytes = ring_.layout().bytes() + ring_.appended_bytes();
  return totals;
}

}  // namespace penstock::detail::runtime
