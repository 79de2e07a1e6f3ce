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

/// Asks the kernel for pages of mapped files that will be read soon, as long as that seems to help. If the pages are
/// already resident, finding their ranges and making a system call for each costs more than it gains.
///
/// A PageAdvice begins by *asking*: each call of `ask` asks for all its ranges, and checks whether a few of them are
/// resident. After 16 calls in a row that found only resident pages (4 at the beginning), it changes to *watching*: it
/// checks one range per 256 samples. It asks again if that range is not resident, or if the process had to read pages
/// from the disk. Any thread may call the functions.
class PageAdvice {
 public:
  /// Returns whether the caller should give the ranges of the next `samples` samples to `ask`. `look` returns one of
  /// these ranges. `look` is called in the first call, and then about once per 256 samples while *watching*.
  template <class Look>
  bool worth_asking(std::size_t samples, const Look& look) {
    if (calls_to_ask_.load(std::memory_order_relaxed) > 0) return true;
    return time_to_look(samples) && begin_asking(look());
  }
  /// Sorts the ranges, removes empty ranges, and asks for the others.
  void ask(std::vector<PageRange>& ranges) noexcept;
  /// Returns the number of ranges that `ask` has asked for.
  std::uint64_t asked() const noexcept { return asked_.load(std::memory_order_relaxed); }

 private:
  bool time_to_look(std::size_t samples) noexcept;
  bool begin_asking(PageRange probe) noexcept;

  std::atomic<int> calls_to_ask_{0};
  std::atomic<std::uint64_t> unwatched_{~std::uint64_t{0} >> 1};  // so large that the first call checks a range
  std::atomic<long> disk_faults_{-1};
  std::atomic<std::uint64_t> asked_{0};
};

}  // namespace penstock::common
