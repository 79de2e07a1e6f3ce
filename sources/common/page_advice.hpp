// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::common {

/// A range of whole pages.
struct PageRange {
  std::uintptr_t begin = 0, end = 0;
};
PageRange pages_of(std::span<const std::byte> bytes) noexcept;

/// Asks the kernel for pages of mapped files that are read soon, as long as that seems to help. If pages are already
/// resident, finding their ranges and a system call for each cost more than they gain.
///
/// It starts by *asking*: every range is asked for, and a few are checked. When these were all resident for some calls,
/// it changes to *watching*: from time to time one range is checked. A range that is not resident, or a page fault of
/// the process that read from the disk, makes it ask again. Any thread.
class PageAdvice {
 public:
  /// Returns whether the ranges of `samples` samples should be given to `ask`. It calls `look` from time to time, which
  /// returns one of the ranges.
  template <class Look>
  bool worth_asking(std::size_t samples, const Look& look) {
    if (calls_to_ask_.load(std::memory_order_relaxed) > 0) return true;
    return time_to_look(samples) && begin_asking(look());
  }
  /// Sorts the ranges and asks for them; skips empty ones.
  void ask(std::vector<PageRange>& ranges) noexcept;
  /// Returns the number of ranges that were asked for.
  std::uint64_t asked() const noexcept { return asked_.load(std::memory_order_relaxed); }

 private:
  bool time_to_look(std::size_t samples) noexcept;
  bool begin_asking(PageRange probe) noexcept;

  std::atomic<int> calls_to_ask_{0};
  std::atomic<std::uint64_t> unwatched_{~std::uint64_t{0} >> 1};  // the first call looks
  std::atomic<long> disk_faults_{-1};
  std::atomic<std::uint64_t> asked_{0};
};

}  // namespace penstock::common
