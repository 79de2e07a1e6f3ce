#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <penstock/report.hpp>

#include "base/trace.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// How long runners had nothing to do, by reason. It is told of each change, and counts the time before it as what it
/// was told of at the change before.
///
/// All under the run's mutex.
class IdleTime {
 public:
  static constexpr std::size_t reasons = static_cast<std::size_t>(Idle::threads) + 1;

  /// What holds from a change on.
  struct Now {
    std::size_t runners = 0;            ///< that there may be
    std::size_t idle = 0;               ///< how many of them have nothing to do
    bool ended = true;                  ///< nothing is to be issued any more: this time counts for nothing
    Idle why = Idle::caller;            ///< until `next`, if there is one, becomes ready; from then on Idle::caller
    const BatchBuffer* next = nullptr;  ///< the batch that the caller takes next; null: none is in work
  };
  /// What runners did with their time, in nanoseconds, summed over them.
  struct Counts {
    std::array<std::uint64_t, reasons> idle_ns{};
    std::uint64_t all_ns = 0;  ///< idle or not
  };

  /// Its times stand in this line of a timeline, too, with how many runners had nothing to do.
  void show(TraceLine& lane) noexcept { lane_ = &lane; }
  /// From this call on time counts.
  void begin(std::uint64_t now) noexcept;
  void change(std::uint64_t now, const Now& to) noexcept;
  /// All runners were in work, and are: `change` need not be told, which spares asking for the time.
  bool still_busy(const Now& to) const noexcept {
    return was_busy() && to.idle == 0 && to.runners == last_.runners && to.ended == last_.ended;
  }
  /// The caller took a batch: what was counted so far belongs to the run. After its last batch it may do as it likes.
  void take() noexcept;
  /// Up to the last `take`.
  const Counts& counts() const noexcept { return taken_; }

 private:
  bool was_busy() const noexcept { return last_.idle == 0; }

  bool begun_ = false, taken_while_busy_ = false;
  std::uint64_t last_ns_ = 0;
  Now last_;
  Counts counted_, taken_;
  std::uint64_t takes_ = 0;
  TraceLine* lane_ = nullptr;
};

}  // namespace penstock::detail::runtime
