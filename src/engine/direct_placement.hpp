// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "blocks/block_schedule.hpp"
#include "data/cursor.hpp"
#include "engine/direct_batches.hpp"
#include "engine/placement.hpp"
#include "engine/row_maker.hpp"
#include "ring/tickets.hpp"

namespace penstock::detail::runtime {

/// Placement for pipelines in which every position is one sample. A sample's row is known when its ticket is issued, so
/// the sample is made in its row.
class DirectPlacement final : public Placement {
 public:
  explicit DirectPlacement(const Context& context);

  void begin(const Cursor& cursor, const QuotaCount& count) override;
  void admit(Lock& lock) noexcept override;
  bool admitting() const noexcept override { return admitting_; }
  void add_to(RunTotals& totals) const override;
  BatchBuffer* wait(std::uint64_t epoch) override;

  bool has_work() noexcept override;
  bool work(ChainRun& run) noexcept override;
  void help(ChainRun& run) noexcept override;

 private:
  bool more_to_admit() const noexcept;
  std::optional<Idle> why_idle() noexcept override;
  void issue(BatchBuffer& buffer);

  bool advise(ChainRun& run) noexcept;
  bool advice_waits() const noexcept;
  void wait_awake(const BatchBuffer& buffer) noexcept;
  void work_along(ChainRun& run, const BatchBuffer& wanted) noexcept;
  TicketRun take_tickets(const ChainRun& run) noexcept;
  bool make_samples(ChainRun& run, BatchBuffer& buffer, TicketRun& tickets) noexcept;
  void note_long(ChainRun& run) noexcept;

  // Used if records share blocks:
  bool work_in_blocks(ChainRun& run) noexcept;
  bool step_in_blocks(ChainRun& run) noexcept;
  void help_in_blocks(ChainRun& run) noexcept;
  std::vector<std::size_t> destination_bytes() const;
  std::byte* destination_of(const Residency& load) const noexcept;

  const RowMaker maker_;
  const bool advises_;
  Tickets tickets_;
  std::atomic<std::uint64_t> advised_{0};  // number of batches whose advice is given or being given

  // The following members are guarded by the mutex. They begin a cache line, because runners read the members above for
  // each sample.
  alignas(64) DirectBatches batches_;
  bool admitting_ = false;
  std::optional<Error> order_error_;  // reported after the admitted batches were delivered
  Error spare_ = no_memory();         // made in advance, in case memory for an error is missing later

  // When `wait` last returned a batch. Not updated while runners leave a core to the consumer. Used only by the
  // consumer.
  std::uint64_t delivered_ns_ = 0;
};

}  // namespace penstock::detail::runtime
