#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::detail::runtime {

/// How far a reordered run's positions were issued, or its stream was read: in entries, or in shared records where
/// there are some. One runner at a time takes more in, the one that has `enter`ed; others read what is here.
class IssueProgress {
 public:
  void reset(bool exhausted) noexcept {
    issued_.store(0, std::memory_order_relaxed);
    exhausted_.store(exhausted, std::memory_order_relaxed);
  }
  /// Any thread.
  bool busy() const noexcept { return busy_.load(std::memory_order_seq_cst); }
  bool exhausted() const noexcept { return exhausted_.load(std::memory_order_seq_cst); }
  std::uint64_t issued() const noexcept { return issued_.load(std::memory_order_seq_cst); }
  /// False: another runner is there.
  bool enter() noexcept { return !busy_.exchange(true, std::memory_order_seq_cst); }

  // -- who entered; the flag orders one of them before the next --
  void leave() noexcept { busy_.store(false, std::memory_order_seq_cst); }
  void issue_up_to(std::uint64_t number) noexcept { issued_.store(number, std::memory_order_seq_cst); }
  /// Nothing more comes.
  void end() noexcept { exhausted_.store(true, std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<bool> exhausted_{false};
};

}  // namespace penstock::detail::runtime
