// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::detail::runtime {

/// Counts the positions of a reordered run that were issued, or the records that were read from its stream. A number is
/// the number of an entry or, if samples share records, of a shared record. Only the runner that has `enter`ed changes
/// the counts.
class IssueProgress {
 public:
  void reset(bool exhausted) noexcept {
    issued_.store(0, std::memory_order_relaxed);
    exhausted_.store(exhausted, std::memory_order_relaxed);
  }
  /// Any thread may call the following functions.
  bool busy() const noexcept { return busy_.load(std::memory_order_seq_cst); }
  bool exhausted() const noexcept { return exhausted_.load(std::memory_order_seq_cst); }
  std::uint64_t issued() const noexcept { return issued_.load(std::memory_order_seq_cst); }
  /// Returns false if a different runner has entered.
  bool enter() noexcept { return !busy_.exchange(true, std::memory_order_seq_cst); }

  // -- the runner that entered; the flag orders one such runner before the next --
  void leave() noexcept { busy_.store(false, std::memory_order_seq_cst); }
  void issue_up_to(std::uint64_t number) noexcept { issued_.store(number, std::memory_order_seq_cst); }
  /// Notes that nothing more will be issued.
  void end() noexcept { exhausted_.store(true, std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<bool> exhausted_{false};
};

}  // namespace penstock::detail::runtime
