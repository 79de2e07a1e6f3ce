#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/hash.hpp"

namespace penstock::detail {

/// What one measured chain took, or one load of a block.
struct MeasuredSample {
  std::uint64_t index = 0;       ///< which record of the source it is, or a record that the block is for
  std::uint64_t read_ns = 0;     ///< wall time in which the record was read; 0: it was not, as for a shared record's
                                 ///< child; or the block loaded
  std::uint64_t sample_ns = 0;   ///< wall time of the chain; of a load 0
  std::uint64_t stands_for = 1;  ///< how many loads it stands for; not kept of a chain
};

/// Some of the chains that one runner measured, or of its loads, each with the same chance. One thread adds, any thread
/// looks: a chain that is added meanwhile may be seen with the numbers of the one whose place it takes, which for
/// statistics of hundreds does not matter.
class MeasuredSamples {
 public:
  static constexpr std::size_t size = 256;

  MeasuredSamples() = default;
  MeasuredSamples(const MeasuredSamples&) = delete;
  MeasuredSamples& operator=(const MeasuredSamples&) = delete;

  void add(const MeasuredSample& sample) noexcept {
    const std::uint64_t number = count_.load(std::memory_order_relaxed);
    // Reservoir sampling.
    const std::uint64_t place = number < size ? number : hash_mix(number, size) % (number + 1);
    if (place >= size) return count_.store(number + 1, std::memory_order_release);
    Entry& entry = entries_[place];
    entry.index.store(sample.index, std::memory_order_relaxed);
    entry.read_ns.store(sample.read_ns, std::memory_order_relaxed);
    entry.sample_ns.store(sample.sample_ns, std::memory_order_relaxed);
    entry.stands_for.store(sample.stands_for, std::memory_order_relaxed);
    count_.store(number + 1, std::memory_order_release);
  }
  /// Calls f(sample) for each that is kept.
  template <class F>
  void for_each(F f) const {
    const std::uint64_t kept = std::min<std::uint64_t>(count_.load(std::memory_order_acquire), size);
    for (std::size_t i = 0; i < kept; ++i)
      f(MeasuredSample{entries_[i].index.load(std::memory_order_relaxed),
                       entries_[i].read_ns.load(std::memory_order_relaxed),
                       entries_[i].sample_ns.load(std::memory_order_relaxed),
                       entries_[i].stands_for.load(std::memory_order_relaxed)});
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> index{0}, read_ns{0}, sample_ns{0}, stands_for{1};
  };
  std::array<Entry, size> entries_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace penstock::detail
