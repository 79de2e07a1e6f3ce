// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "chain/chain.hpp"

namespace penstock::detail::runtime {

/// The work of a pool's runners.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  /// Opens a ChainRun for one runner. This opens a reader of the source, which is a user's code and may take long.
  /// @throws whatever opening the reader throws.
  virtual std::unique_ptr<ChainRun> open_run() = 0;
  /// Returns whether a runner has something to do. Called under the monitor's mutex.
  virtual bool has_work() noexcept = 0;
  /// Works until there is no work, the monitor is paused, or too many runners work. Returns true if it stops earlier
  /// because other tasks wait for the thread.
  virtual bool work(ChainRun& run) noexcept = 0;
  /// Notes that the number of busy runners changed at the time `now`. Called under the monitor's mutex.
  virtual void runners_changed(std::uint64_t /*now*/) noexcept {}
  /// Does one piece of work, if there is work.
  virtual void help(ChainRun& run) noexcept = 0;
};

}  // namespace penstock::detail::runtime
