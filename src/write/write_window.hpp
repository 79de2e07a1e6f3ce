// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <penstock/error.hpp>

#include "chain/chain.hpp"
#include "engine/idle_time.hpp"
#include "engine/runner_pool.hpp"
#include "write/free_cells.hpp"
#include "write/samples_in_work.hpp"
#include "write/write.hpp"

namespace penstock::detail::runtime {

/// Samples being processed, and the runners that make them. The caller's thread admits and takes samples. There is at
/// most one reader per thread, not one per sample, because a reader may hold a file and a decoder.
class WriteWindow final : private PoolWork {
 public:
  WriteWindow(std::shared_ptr<const PipelineData> data, const WriteOptions& options, unsigned threads,
              Executor::Impl& executor);
  ~WriteWindow() override;
  WriteWindow(const WriteWindow&) = delete;
  WriteWindow& operator=(const WriteWindow&) = delete;

  bool has_room() const noexcept { return queue_.has_room(); }
  bool empty() const noexcept { return queue_.empty(); }
  bool full() const noexcept { return queue_.full(); }

  /// Admits a sample. Runners see it together with the next few samples, or after `publish`.
  void admit(SinkItem item);
  /// Admits a sample that is already known to be bad, so it is not made.
  void admit_bad(SinkItem item, Error error);
  void publish() noexcept;
  /// Notes that no further sample will be admitted. Once all samples are begun, runners without work don't count as
  /// idle.
  void end() noexcept;
  /// Waits until the oldest sample is done. Usually waits for more samples too, so that the wake-up costs little per
  /// sample. Returns how many samples from the oldest on are done, at most a few. They belong to the caller until
  /// `pop`. Returns 0 if no reader can be opened.
  std::size_t take();
  WriteEntry& taken(std::size_t i) noexcept { return queue_[i]; }
  void pop(std::size_t count);

  /// Returns how long the caller was in `take`, where it waits for samples or makes some itself. Only the caller's
  /// thread calls this.
  std::uint64_t waited_ns() const noexcept { return waited_ns_; }
  const Chain& chain() const noexcept { return chain_; }
  RunTotals totals() const;
  Error reader_error();

 private:
  using Lock = Monitor::Lock;

  std::size_t take(Lock& lock);
  bool starved() noexcept { return !queue_.is_oldest_done() && queue_.has_work(); }
  void work_along(Lock& lock) noexcept;
  bool worth_waking() noexcept;
  void note_idle(std::uint64_t now = 0) noexcept;
  bool make_one(ChainRun& run, Lock& lock, bool wakes) noexcept;
  void make(WriteEntry& entry, ChainRun& run) noexcept;

  std::unique_ptr<ChainRun> open_run() override;
  bool has_work() noexcept override { return queue_.has_work(); }
  bool work(ChainRun& run) noexcept override;
  void help(ChainRun& run) noexcept override;
  void runners_changed(std::uint64_t now) noexcept override { note_idle(now); }

  const std::shared_ptr<const PipelineData> data_;
  const Chain chain_;
  const std::stop_token stop_;
  Executor::Impl& executor_;
  std::uint64_t waited_ns_ = 0;  // used only by the caller's thread
  mutable Monitor monitor_;
  // Guarded by the monitor's mutex, except for the functions of SamplesInWork that are called without the mutex:
  SamplesInWork queue_;
  FreeCells free_cells_;
  IdleTime idle_;
  bool ended_ = false;
  std::uint64_t kept_ = 0;
  std::uint64_t woken_ns_ = 0;  // when `takes_` last became true
  bool takes_ = false;          // the oldest sample was done at each `take` since the caller last waited for samples
  RunnerPool pool_;
};

}  // namespace penstock::detail::runtime
