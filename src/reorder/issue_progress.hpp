// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::detail::runtime {

/// Counts the positions of a reordered run that were issued, or the records that were read from its stream. The
/// count is also the number of the next entry or, if samples share records, of the next shared record. Only the runner
/// that has entered changes the count.
class IssueProgress {
 public:
  void reset(bool exhausted) noexcept {
    issued_.store(0, std::memory_order_relaxed);
    exhausted_.store(exhausted, std::memory_order_relaxed);
  }
  // -- any thread --
  bool busy() const noexcept { return busy_.load(std::memory_order_seq_cst); }
  bool exhausted() const noexcept { return exhausted_.load(std::memory_order_seq_cst); }
  std::uint64_t issued() const noexcept { return issued_.load(std::memory_order_seq_cst); }
  /// Tries to enter. Returns false if a different runner has entered and has not left.
  bool enter() noexcept { return !busy_.exchange(true, std::memory_order_seq_cst); }

  // -- only the runner that entered; after `leave`, the next runner that enters sees its changes --
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
