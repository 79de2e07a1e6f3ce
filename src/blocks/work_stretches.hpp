#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace penstock::detail::runtime {

/// Which samples a runner turns to next: short stretches of the order, one runner's each.
///
/// Neighbours are made of the same blocks. A runner that decodes them and makes the samples finds the blocks in its own
/// core's cache, which costs another core several times as much. So a runner goes on with the stretch it holds as long
/// as there is work in it. Then it takes one that nobody holds: of the first few the one it knows best, or the first,
/// where others were preferred to it as often as there are runners. Where all are held it helps with the first, as no
/// runner may be idle while there is work.
///
/// It counts pieces of work, and knows nothing of what they are. One thread at a time.
class WorkStretches {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// `in_flight`: the most samples that are issued and not made; `threads`: runners, of which there may be `most`
  /// later.
  WorkStretches(std::size_t in_flight, unsigned threads, unsigned most = 0);

  /// Samples of a stretch. Stretch s is the samples from s * length() on.
  std::uint64_t length() const noexcept { return length_; }
  /// There is a piece of work for a sample.
  void add(std::uint64_t sample) noexcept;
  /// A piece of it is taken.
  void remove(std::uint64_t sample) noexcept;
  bool has_work() const noexcept { return pieces_ != 0; }
  /// The stretch in which a runner finds its next piece of work; `none`: there is none. `held` is the stretch that it
  /// holds, or `none`, and then the one it holds from now on. `knows(stretch)`: how well it knows one, as a number.
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
  /// The runner turns to something else.
  void leave(std::uint64_t& held) noexcept;
  /// Forgets all work. No runner holds any.
  void clear() noexcept;

 private:
  struct Stretch {
    std::uint64_t number = none;
    std::uint64_t pieces = 0;
    unsigned passed_over = 0;  ///< times that others were preferred to it while it was the first
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
  std::vector<Stretch> stretches_;  // number n is n % size
  std::uint64_t pieces_ = 0;        // pieces of work in all stretches
  // Stretches with work that nobody holds.
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> waiting_;
  std::vector<std::uint64_t> first_;  // first few of the waiting stretches, taken out to look at
  std::vector<std::uint64_t> held_;
};

}  // namespace penstock::detail::runtime
