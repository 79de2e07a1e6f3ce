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

/// What runners work with: a ChainRun each, and with it a reader of the source. They are opened as runners come, and go
/// from one that leaves to the next.
///
/// All under the monitor's mutex.
class ChainRuns {
 public:
  using Lock = Monitor::Lock;

  /// `most`: how many there may be.
  ChainRuns(PoolWork& work, std::size_t most);

  /// One that nobody has, or another one; null: it can't be opened. The mutex is let go meanwhile.
  ChainRun* lease(Lock& lock) noexcept;
  void give_back(ChainRun* run) noexcept { idle_.push_back(run); }
  bool has_idle() const noexcept { return !idle_.empty(); }
  /// How many there are, or are being opened.
  std::size_t count() const noexcept { return all_.size() + opening_; }
  /// One could not be opened: those there are do the work.
  bool are_all() const noexcept { return no_more_; }
  /// The same, and there is but one.
  bool is_one_for_all() const noexcept { return no_more_ && all_.size() == 1; }
  /// No reader at all could be opened: `error` says why.
  bool failed() const noexcept { return failed_; }
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Readers are opened again.
  void forget_failures();
  /// For good; they hold a user's readers, which end without the mutex.
  std::vector<std::unique_ptr<ChainRun>> take() noexcept;

  /// Samples that were made with them.
  std::uint64_t samples() const noexcept;
  /// Threads that work with them, at most as many as there is room for, each in its turn.
  std::size_t threads_in_work(std::span<int> out) noexcept;
  void add_to(RunTotals& totals) const;

 private:
  PoolWork& work_;
  std::vector<std::unique_ptr<ChainRun>> all_;
  std::vector<ChainRun*> idle_;
  unsigned opening_ = 0;
  bool no_more_ = false, failed_ = false;
  std::optional<Error> error_;  ///< why
  Error spare_ = no_memory();   ///< made while there is some
  std::size_t looked_at_ = 0;   ///< whose turn it was last
};

}  // namespace penstock::detail::runtime
