// SPDX-License-Identifier: Apache-2.0
#include "common/page_advice.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace penstock::common {

namespace {

// How many more calls ask the kernel for pages after a sign (a check, or page faults) that pages aren't resident.
constexpr int calls_after_a_sign = 16;
constexpr int calls_at_first = 4;          // how many calls ask at the beginning
constexpr std::uint64_t look_every = 256;  // samples
constexpr std::size_t looks_a_call = 4;
constexpr std::size_t pages_looked_at = 64;  // how many pages of a range are checked, at most

std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Returns whether the first pages of the range are resident. If the process neither owns the file nor may write
// to it, the kernel reports all pages of the file as resident. Then only page faults show that pages were not resident.
bool resident(PageRange range) noexcept {
  if (range.end == range.begin) return true;
  std::array<unsigned char, pages_looked_at> pages{};
  const std::size_t count = std::min<std::size_t>((range.end - range.begin) / page_bytes(), pages.size());
  if (::mincore(reinterpret_cast<void*>(range.begin), count * page_bytes(), pages.data()) != 0) return true;
  return std::all_of(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(count),
                     [](unsigned char p) { return (p & 1) != 0; });
}

// Counts the faults of all threads of the process, because other runners read the same files.
long disk_faults() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

}  // namespace

PageRange pages_of(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t mask = page_bytes() - 1;
  return {begin & ~mask, (begin + bytes.size() + mask) & ~mask};
}

bool PageAdvice::time_to_look(std::size_t samples) noexcept {
  if (unwatched_.fetch_add(samples, std::memory_order_relaxed) + samples < look_every) return false;
  unwatched_.store(0, std::memory_order_relaxed);
  return true;
}

bool PageAdvice::begin_asking(PageRange probe) noexcept {
  const long faults = disk_faults();
  const long before = disk_faults_.exchange(faults, std::memory_order_relaxed);
  if (before == faults && resident(probe)) return false;
  calls_to_ask_.store(before < 0 ? calls_at_first : calls_after_a_sign, std::memory_order_relaxed);
  return true;
}

void PageAdvice::ask(std::vector<PageRange>& ranges) noexcept {
  std::erase_if(ranges, [](PageRange range) { return range.begin == range.end; });
  if (ranges.empty()) return;
  bool all_resident = true;
  const std::size_t step = std::max<std::size_t>(ranges.size() / looks_a_call, 1);
  for (std::size_t i = 0; i < ranges.size() && all_resident; i += step) all_resident = resident(ranges[i]);
  if (all_resident) {
    calls_to_ask_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    calls_to_ask_.store(calls_after_a_sign, std::memory_order_relaxed);
  }

  asked_.fetch_add(ranges.size(), std::memory_order_relaxed);
  std::sort(ranges.begin(), ranges.end(), [](PageRange a, PageRange b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < ranges.size();) {
    PageRange merged = ranges[i++];
    for (; i < ranges.size() && ranges[i].begin <= merged.end; ++i) merged.end = std::max(merged.end, ranges[i].end);
    ::madvise(reinterpret_cast<void*>(merged.begin), merged.end - merged.begin, MADV_WILLNEED);
  }
}

}  // namespace penstock::common
