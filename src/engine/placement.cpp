// SPDX-License-Identifier: Apache-2.0
#include "engine/placement.hpp"

#include <string>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "chain/source_work.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

Placement::Placement(const Context& context)
    : setup_(context.setup),
      data_(*context.setup.data),
      chain_(context.chain),
      ring_(context.ring),
      queue_(context.queue),
      monitor_(context.monitor),
      executor_(context.executor),
      stop_(context.stop),
      rows_(max_rows_of_rank(data_)),
      pool_(*this, monitor_, executor_, setup_.plan.threads, setup_.plan.most().threads) {
  if (setup_.trace == nullptr) return;
  order_line_ = &setup_.trace->line("order");
  idle_.show(setup_.trace->line("runners without work"));
}

std::unique_ptr<ChainRun> Placement::open_run() {
  auto run = std::make_unique<ChainRun>(chain_, setup_.plan.scratch_limit, open_reader(*data_.source));
  run->images.decodes_on_device = setup_.decodes_on_device;
  run->stop = stop_;
  if (setup_.trace != nullptr) run->runner.trace = &setup_.trace->next_line("runner");
  run->counters.measured_samples = std::make_unique<MeasuredSamples>();
  if (data_.source->block_model() != nullptr) run->counters.measured_loads = std::make_unique<MeasuredSamples>();
  run->row.fields.resize(ring_.layout().fields());
  return run;
}

void Placement::publish(BatchBuffer& buffer) noexcept {
  if (ring_.publish(buffer) == BatchRing::FinishResult::discarded) {
    Lock lock(monitor_.mutex);
    ring_.release(buffer);
    return admit(lock);
  }
  if (monitor_.waiting.load(std::memory_order_seq_cst)) monitor_.notify();
}

void Placement::wake_pool() noexcept {
  Lock lock(monitor_.mutex);
  if (!monitor_.closed && !monitor_.is_paused()) pool_.wake(lock);
  note_idle();
}

void Placement::note_idle(std::uint64_t now) noexcept {
  IdleTime::IdleState to;
  if (!monitor_.closed && !monitor_.is_paused()) {
    to.runners = pool_.most();
    to.idle = pool_.idle_runners();
    const std::optional<Idle> why = to.idle != 0 ? why_idle() : Idle::caller;
    to.ended = !why;
    if (why) to.why = *why;
    // Only these two reasons end when the next batch becomes ready.
    if ((why == Idle::buffers || why == Idle::straggler) && !queue_.empty()) to.next = &queue_.front();
  }
  if (now != 0 || !idle_.still_busy(to)) idle_.change(now != 0 ? now : now_ns(), to);
}

Idle Placement::why_no_batch() const noexcept {
  if (queue_.empty()) return queue_.leased() >= ring_.depth() ? Idle::leases : Idle::order;
  for (std::uint64_t i = queue_.delivered() + 1; i < queue_.admitted(); ++i)
    if (queue_.at(i).ready()) return Idle::straggler;
  return Idle::buffers;
}

LeasesExhausted Placement::leases_exhausted() const {
  return {Errc::leases_exhausted, "the caller holds all " + std::to_string(ring_.depth()) +
                                      " batches of the ring; let some go, or raise `depth`"};
}

}  // namespace penstock::detail::runtime
