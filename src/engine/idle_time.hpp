// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <penstock/report.hpp>

#include "base/trace.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// Measures how long runners had nothing to do, by reason. Each call of `change` counts the time since the previous
/// call for the state that the previous call set.
///
/// Call all functions under the run's mutex.
class IdleTime {
 public:
  static constexpr std::size_t reasons = static_cast<std::size_t>(Idle::threads) + 1;

  /// The state that lasts until the next `change`.
  struct IdleState {
    std::size_t runners = 0;  ///< how many runners may run
    std::size_t idle = 0;     ///< how many of `runners` have nothing to do
    bool ended = true;        ///< nothing will be issued any more, so the time is not counted
    Idle why = Idle::caller;  ///< why runners are idle; if `next` becomes ready, the reason is Idle::caller from that
                              ///< moment on
    /// The batch that the caller takes next. Null if `why` stays the reason even when a batch becomes ready.
    const BatchBuffer* next = nullptr;
  };
  /// How runners spent their time: nanoseconds, summed over all runners.
  struct Counts {
    std::array<std::uint64_t, reasons> idle_ns{};
    std::uint64_t all_ns = 0;  ///< sum of idle and busy time
  };

  /// Shows idle times, and how many runners were idle, in this line of a timeline.
  void show(TraceLine& line) noexcept { line_ = &line; }
  /// Starts counting time.
  void begin(std::uint64_t now) noexcept;
  void change(std::uint64_t now, const IdleState& to) noexcept;
  /// Returns whether all runners were busy and still are, and `runners` and `ended` are the same as before. If so,
  /// `change` need not be called, which saves reading the clock.
  bool still_busy(const IdleState& to) const noexcept {
    return was_busy() && to.idle == 0 && to.runners == last_.runners && to.ended == last_.ended;
  }
  /// Notes that the caller took a batch. `counts` includes the time up to this call. So idle time after the caller's
  /// last batch is never included.
  void take() noexcept;
  /// Returns the counts up to the last `take`.
  const Counts& counts() const noexcept { return taken_; }

 private:
  bool was_busy() const noexcept { return last_.idle == 0; }

  bool begun_ = false, taken_while_busy_ = false;
  std::uint64_t last_ns_ = 0;
  IdleState last_;
  Counts counted_, taken_;
  std::uint64_t takes_ = 0;
  TraceLine* line_ = nullptr;
};

}  // namespace penstock::detail::runtime
