// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace penstock::detail::runtime {

/// Decides which samples a runner works on next. The order is divided into short stretches. At any time, at most one
/// runner holds a given stretch.
///
/// Neighbouring samples share blocks. A runner that decoded a block has it in its core's cache; another core needs
/// several times as long to read the block. So a runner stays with its stretch while the stretch has work. Then the
/// runner takes one of the first few stretches that no runner holds: the stretch that it knows best. But the first
/// of them may be passed over only as many times as the run may have runners. Then the next runner takes it. If runners
/// hold all stretches with work, the runner helps with the first of these, because no runner may be idle while there is
/// work.
///
/// This class only counts pieces of work. One thread at a time may use it.
class WorkStretches {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// `in_flight`: the most samples that are issued and not made. `threads`: present number of runners. `most`: the
  /// largest number of runners that the run may use; 0: `threads`.
  WorkStretches(std::size_t in_flight, unsigned threads, unsigned most = 0);

  /// Returns the number of samples in a stretch. Stretch s begins with sample s * length().
  std::uint64_t length() const noexcept { return length_; }
  /// Adds a piece of work for a sample.
  void add(std::uint64_t sample) noexcept;
  /// Removes a piece of a sample's work, which a runner has taken.
  void remove(std::uint64_t sample) noexcept;
  bool has_work() const noexcept { return pieces_ != 0; }
  /// Returns the stretch of a runner's next piece of work; `none`: there is no work. `held`: the stretch that the
  /// runner holds, or `none`; updated if the choice changes it. `knows(stretch)`: returns how well the runner knows a
  /// stretch; a higher number is better.
  template <class Knows>
  std::uint64_t choose(std::uint64_t& held, const Knows& knows) noexcept {
    if (held != none && has_work(held)) return held;
    leave(held);
    look_at_first();
    if (first_.empty()) return first_held();
    std::size_t best = 0;
    if (stretch(first_[0]).passed_over < threads_)
      for (std::size_t i = 0, most = 0; i < first_.size(); ++i)
        if (const std::size_t known = knows(first_[i]); known > most) best = i, most = known;
    return hold(best, held);
  }
  /// Gives up the runner's stretch.
  void leave(std::uint64_t& held) noexcept;
  /// Discards all work. REQUIRES: no runner holds a stretch.
  void clear() noexcept;

 private:
  struct Stretch {
    std::uint64_t number = none;
    std::uint64_t pieces = 0;
    unsigned passed_over = 0;  ///< how often a runner took a different stretch while this one was the first
    bool held = false, waiting = false;
  };

  Stretch& stretch(std::uint64_t number) noexcept { return stretches_[number % stretches_.size()]; }
  bool has_work(std::uint64_t number) noexcept {
    return stretch(number).number == number && stretch(number).pieces != 0;
  }
  void wait(Stretch& it) noexcept;
  void look_at_first() noexcept;
  std::uint64_t first_held() noexcept;
  std::uint64_t hold(std::size_t which, std::uint64_t& held) noexcept;

  const unsigned threads_;
  const std::uint64_t length_;
  std::vector<Stretch> stretches_;  // stretch n is element n % size
  std::uint64_t pieces_ = 0;        // pieces of work in all stretches
  // Stretches that no runner holds. They had work when they were added, but may have none left.
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> waiting_;
  std::vector<std::uint64_t> first_;  // the first few waiting stretches, taken out of `waiting_` for comparison
  std::vector<std::uint64_t> held_;
};

}  // namespace penstock::detail::runtime
