// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "blocks/block_schedule.hpp"
#include "engine/placement.hpp"
#include "reorder/reordered.hpp"

namespace penstock::detail::runtime {

/// Placement for pipelines in which a sample's row is known only when all samples before it are finished.
/// `ReorderedWork` does the runners' work. This class handles the batches, the ends of epochs, and the consumer's
/// calls.
class ReorderedPlacement final : public Placement, private BatchOutlet, private ThreadSignals {
 public:
  explicit ReorderedPlacement(const Context& context);

  void begin(const Cursor& cursor, const QuotaCount& count) override;
  void admit(Lock& lock) noexcept override;
  void add_to(RunTotals& totals) const override;
  void set_threads(Lock& lock, unsigned threads) noexcept override {
    reordered_->set_threads(threads);
    Placement::set_threads(lock, threads);
  }
  void prepare_entries(std::size_t entries) override { reordered_->prepare_entries(entries); }
  bool free_replaced() noexcept override { return reordered_->free_replaced(); }
  BatchBuffer* wait(std::uint64_t epoch) override;
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) override;

  bool has_work() noexcept override { return reordered_->has_work(); }
  bool work(ChainRun& run) noexcept override;
  void help(ChainRun& run) noexcept override;

 private:
  std::optional<Idle> why_idle() noexcept override;
  bool epoch_over(std::uint64_t epoch) const noexcept;
  bool answer(Lock& lock) noexcept;
  BlockSchedule::Feed feed(Cursor at) const;

  BatchBuffer* open_batch() noexcept override;
  void close_batch(BatchBuffer& buffer) noexcept override;
  void rows_copied(BatchBuffer& buffer, std::uint32_t rows) noexcept override;
  void publish_closed() noexcept override;
  void discard_batch(BatchBuffer& buffer) noexcept override;
  void publish_with_stages(BatchBuffer& buffer) noexcept;
  bool has_room_for_end() noexcept override;
  void end_epoch(EpochEnd end) noexcept override;
  void wake_runners() noexcept override { wake_pool(); }
  void wake_consumer() noexcept override { monitor_.notify(); }
  bool paused() const noexcept override { return monitor_.is_paused(); }

  std::unique_ptr<ReorderedWork> reordered_;
  std::mutex closed_mutex_;
  std::vector<BatchBuffer*> closed_;  // batches that `publish_closed` publishes. Guarded by `closed_mutex_`
  std::vector<EpochEnd> ends_;        // oldest first; at most as many as the ring's depth. Guarded by the mutex
};

}  // namespace penstock::detail::runtime
