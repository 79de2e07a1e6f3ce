#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::common {

/// Whole pages.
struct PageRange {
  std::uintptr_t begin = 0, end = 0;
};
PageRange pages_of(std::span<const std::byte> bytes) noexcept;

/// Asks the kernel for pages of mapped files that are read soon, as long as it seems to help: where they are resident
/// already, finding them and a system call for each costs more than it gains.
///
/// *Asking*: every range is asked for, a few are looked at; once those were all resident for some calls, it becomes
/// *watching*: now and then one range is looked at. One that is not resident, or a page fault that went to the disk
/// somewhere in the process, makes it asking again. Any thread.
class PageAdvice {
 public:
  /// Whether the ranges of so many samples should be given to `ask`. `look` gives one of them, and is called now and
  /// then.
  template <class Look>
  bool worth_asking(std::size_t samples, const Look& look) {
    if (calls_to_ask_.load(std::memory_order_relaxed) > 0) return true;
    return time_to_look(samples) && begin_asking(look());
  }
  /// Sorts the ranges; empty ones are left out.
  void ask(std::vector<PageRange>& ranges) noexcept;
  /// Number of ranges that were asked for.
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
