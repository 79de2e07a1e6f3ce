// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "chain/chain.hpp"
#include "engine/monitor.hpp"
#include "engine/pool_work.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// The ChainRuns of a run's runners, each with a reader of the source. A runner that begins takes a free ChainRun, or
/// opens a new one. When the runner leaves, its ChainRun is free again.
///
/// Call all functions under the monitor's mutex.
class ChainRuns {
 public:
  using Lock = Monitor::Lock;

  /// `most`: the largest number of ChainRuns.
  ChainRuns(PoolWork& work, std::size_t most);

  /// Returns a free ChainRun, or opens a new one, and releases the mutex while it opens one. Returns null if no
  /// ChainRun is free and opening fails, or has failed before.
  ChainRun* lease(Lock& lock) noexcept;
  void give_back(ChainRun* run) noexcept { idle_.push_back(run); }
  bool has_idle() const noexcept { return !idle_.empty(); }
  /// Returns how many ChainRuns are open or being opened.
  std::size_t count() const noexcept { return all_.size() + opening_; }
  /// Returns whether opening a ChainRun failed, so that no further ChainRun will be opened.
  bool are_all() const noexcept { return no_more_; }
  /// Returns whether opening a ChainRun failed and only one ChainRun is open.
  bool is_one_for_all() const noexcept { return no_more_ && all_.size() == 1; }
  /// Returns whether no ChainRun could be opened; `error` is the reason.
  bool failed() const noexcept { return failed_; }
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Allows readers to be opened again.
  void forget_failures();
  /// Removes all ChainRuns and returns them. The caller must destroy the ChainRuns without the mutex, because their
  /// readers are a user's code.
  std::vector<std::unique_ptr<ChainRun>> take() noexcept;

  /// Returns the number of samples that were made with the ChainRuns.
  std::uint64_t samples() const noexcept;
  /// Writes the numbers of threads that work with ChainRuns to `out`, and returns how many it wrote. If not all fit,
  /// the next call begins after the last ChainRun of this call.
  std::size_t threads_in_work(std::span<int> out) noexcept;
  void add_to(RunTotals& totals) const;

 private:
  PoolWork& work_;
  std::vector<std::unique_ptr<ChainRun>> all_;
  std::vector<ChainRun*> idle_;
  unsigned opening_ = 0;
  bool no_more_ = false, failed_ = false;
  std::optional<Error> error_;  ///< why opening failed
  Error spare_ = no_memory();   ///< made in advance, in case memory for an error is missing later
  std::size_t looked_at_ = 0;   ///< how many ChainRuns `threads_in_work` has looked at, in all its calls
};

}  // namespace penstock::detail::runtime
