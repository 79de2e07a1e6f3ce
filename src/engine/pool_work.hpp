#pragma once

#include <cstdint>
#include <memory>

#include "chain/chain.hpp"

namespace penstock::detail::runtime {

/// What the runners of a pool do.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  /// What one runner needs to work: above all a reader of the source, which is a user's code and may take long.
  /// @throws what that throws.
  virtual std::unique_ptr<ChainRun> open_run() = 0;
  /// There is something for a runner to do. Under the monitor's mutex.
  virtual bool has_work() noexcept = 0;
  /// Works until nothing is left, or the monitor is paused. True: it leaves earlier, as others wait for the thread.
  virtual bool work(ChainRun& run) noexcept = 0;
  /// How many runners are in work has changed, at `now`. Under the monitor's mutex.
  virtual void runners_changed(std::uint64_t /*now*/) noexcept {}
  /// Does one piece of it, if there is any.
  virtual void help(ChainRun& run) noexcept = 0;
};

}  // namespace penstock::detail::runtime
