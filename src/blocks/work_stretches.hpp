#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace penstock::detail {

/// Which samples a runner turns to next: short stretches of the order, one runner's each.
///
/// Neighbours are made of the same blocks. A runner that decodes them and makes the samples finds the blocks in its own
/// core's cache, which costs another core several times as much. So a runner goes on with the stretch it holds as long
/// as there is work in it, and then takes the first that nobody holds. Where all are held it helps with the first, as
/// no runner may be idle while there is work.
///
/// It counts pieces of work, and knows nothing of what they are. One thread at a time.
class WorkStretches {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// `in_flight`: the most samples that are issued and not made; `threads`: runners.
  WorkStretches(std::size_t in_flight, unsigned threads);

  /// Samples of a stretch. Stretch s is the samples from s * length() on.
  std::uint64_t length() const noexcept { return length_; }
  /// There is a piece of work for a sample.
  void add(std::uint64_t sample) noexcept;
  /// A piece of it is taken.
  void remove(std::uint64_t sample) noexcept;
  bool has_work() const noexcept { return pieces_ != 0; }
  /// The stretch in which a runner finds its next piece of work; `none`: there is none. `held` is the stretch that it
  /// holds, or `none`, and then the one it holds from now on.
  std::uint64_t choose(std::uint64_t& held) noexcept;
  /// The runner turns to something else.
  void leave(std::uint64_t& held) noexcept;
  /// Forgets all work. No runner holds any.
  void clear() noexcept;

 private:
  struct Stretch {
    std::uint64_t number = none;
    std::uint64_t pieces = 0;
    bool held = false, waiting = false;
  };

  Stretch& stretch(std::uint64_t number) noexcept { return stretches_[number % stretches_.size()]; }
  bool has_work(std::uint64_t number) noexcept {
    return stretch(number).number == number && stretch(number).pieces != 0;
  }
  void wait(Stretch& it) noexcept;

  const std::uint64_t length_;
  std::vector<Stretch> stretches_;                                                          // number n is n % size
  std::uint64_t pieces_ = 0;                                                                // of all
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> waiting_;  // with work, held by nobody
  std::vector<std::uint64_t> held_;
};

}  // namespace penstock::detail
