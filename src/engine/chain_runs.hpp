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

/// What runners work with: a ChainRun each, with a reader of the source. A ChainRun is opened when a runner comes; a
/// runner that leaves passes it on to the next one.
///
/// Call everything under the monitor's mutex.
class ChainRuns {
 public:
  using Lock = Monitor::Lock;

  /// `most`: the most runs.
  ChainRuns(PoolWork& work, std::size_t most);

  /// Returns a free run, or opens a further one; null: it can't be opened. Releases the mutex while it opens one.
  ChainRun* lease(Lock& lock) noexcept;
  void give_back(ChainRun* run) noexcept { idle_.push_back(run); }
  bool has_idle() const noexcept { return !idle_.empty(); }
  /// Returns how many runs are open or being opened.
  std::size_t count() const noexcept { return all_.size() + opening_; }
  /// Returns whether opening a further run failed; then the open ones do all the work.
  bool are_all() const noexcept { return no_more_; }
  /// Returns whether opening a further run failed and there is only one.
  bool is_one_for_all() const noexcept { return no_more_ && all_.size() == 1; }
  /// Returns whether no reader could be opened; `error` is the reason.
  bool failed() const noexcept { return failed_; }
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Allows readers to be opened again.
  void forget_failures();
  /// Removes all runs permanently. They hold a user's readers, which must be destroyed without the mutex.
  std::vector<std::unique_ptr<ChainRun>> take() noexcept;

  /// Returns the number of samples that were made with the runs.
  std::uint64_t samples() const noexcept;
  /// Fills `out` with threads that work with the runs, in turn if there are too many. Returns how many it wrote.
  std::size_t threads_in_work(std::span<int> out) noexcept;
  void add_to(RunTotals& totals) const;

 private:
  PoolWork& work_;
  std::vector<std::unique_ptr<ChainRun>> all_;
  std::vector<ChainRun*> idle_;
  unsigned opening_ = 0;
  bool no_more_ = false, failed_ = false;
  std::optional<Error> error_;  ///< why opening failed
  Error spare_ = no_memory();   ///< made early, while there is memory
  std::size_t looked_at_ = 0;   ///< the run that was looked at last, for the turns
};

}  // namespace penstock::detail::runtime
