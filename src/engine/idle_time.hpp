// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <penstock/report.hpp>

#include "base/trace.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// Measures how long runners had nothing to do, by reason. Each call of `change` counts the time since the call before
/// it with the state given then.
///
/// Call everything under the run's mutex.
class IdleTime {
 public:
  static constexpr std::size_t reasons = static_cast<std::size_t>(Idle::threads) + 1;

  /// The state from a change on.
  struct Now {
    std::size_t runners = 0;            ///< the present limit of runners
    std::size_t idle = 0;               ///< how many of them have nothing to do
    bool ended = true;                  ///< nothing is to be issued any more; this time is not counted
    Idle why = Idle::caller;            ///< the reason until `next`, if it is set, becomes ready; from then on
                                        ///< Idle::caller
    const BatchBuffer* next = nullptr;  ///< the batch that the caller takes next; null: none is being made
  };
  /// What runners did with their time, in nanoseconds, summed over them.
  struct Counts {
    std::array<std::uint64_t, reasons> idle_ns{};
    std::uint64_t all_ns = 0;  ///< idle and busy time
  };

  /// Also shows the times, and how many runners were idle, in this line of a timeline.
  void show(TraceLine& line) noexcept { line_ = &line; }
  /// Starts counting time.
  void begin(std::uint64_t now) noexcept;
  void change(std::uint64_t now, const Now& to) noexcept;
  /// Returns whether all runners were busy and still are. Then `change` need not be called, which saves reading the
  /// clock.
  bool still_busy(const Now& to) const noexcept {
    return was_busy() && to.idle == 0 && to.runners == last_.runners && to.ended == last_.ended;
  }
  /// Notes that the caller took a batch: the time counted so far belongs to the run. The time after the caller's last
  /// batch does not.
  void take() noexcept;
  /// Returns the counts up to the last `take`.
  const Counts& counts() const noexcept { return taken_; }

 private:
  bool was_busy() const noexcept { return last_.idle == 0; }

  bool begun_ = false, taken_while_busy_ = false;
  std::uint64_t last_ns_ = 0;
  Now last_;
  Counts counted_, taken_;
  std::uint64_t takes_ = 0;
  TraceLine* line_ = nullptr;
};

}  // namespace penstock::detail::runtime
