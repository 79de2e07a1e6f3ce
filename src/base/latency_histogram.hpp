// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace penstock::detail {

/// Counts calls by duration. Each power of two has eight buckets, so quantiles are exact to within 13 % and the memory
/// is fixed. One thread records, and any thread may read.
class LatencyHistogram {
 public:
  void record(std::uint64_t ns) noexcept {
    auto& bucket = buckets_[index(ns)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Forgets all calls. Only the recording thread may call it.
  void clear() noexcept {
    for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
  }
  /// Returns the time in seconds that the share `q` of the calls did not exceed. Returns 0 if there were no calls.
  double quantile(double q) const noexcept {
    std::uint64_t total = 0;
    for (const auto& b : buckets_) total += b.load(std::memory_order_relaxed);
    if (total == 0) return 0;
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(total - 1));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i].load(std::memory_order_relaxed);
      if (seen > rank) return static_cast<double>(upper(i)) * 1e-9;
    }
    return 0;
  }

 private:
  static std::size_t index(std::uint64_t ns) noexcept {
    if (ns < 8) return static_cast<std::size_t>(ns);
    const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return (octave - 2) * 8 + static_cast<std::size_t>(ns >> (octave - 3) & 7);
  }
  static std::uint64_t upper(std::size_t i) noexcept {
    if (i < 8) return i;
    const unsigned octave = static_cast<unsigned>(i / 8) + 2;
    return ((std::uint64_t{8} + i % 8 + 1) << (octave - 3)) - 1;
  }
  std::array<std::atomic<std::uint64_t>, 8 * 62> buckets_{};
};

}  // namespace penstock::detail
