// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/hash.hpp"

namespace penstock::detail::runtime {

/// Times of one measured chain, or of one load of a block.
struct MeasuredSample {
  std::uint64_t index = 0;    ///< index of the record in the source; for a load, of a record that needs the block
  std::uint64_t read_ns = 0;  ///< wall time of reading the record, or of loading the block; 0: nothing was read, as for
                              ///< a shared record's child
  std::uint64_t sample_ns = 0;  ///< wall time of the chain; 0 for a load
  double weight = 1;            ///< number of measured chains, or of loads, that these times represent
};

/// Times of the chains that one runner measured, or of its loads. Keeps 256 entries that are chosen from the whole run
/// with equal chances, and the last 256 entries. One thread adds; any thread may read. A reader may see an entry that
/// is half replaced. That does not matter for statistics of hundreds of entries.
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
    if (place < size) run_[place].set(sample);
    last_[number % size].set(sample);
    count_.store(number + 1, std::memory_order_release);
  }
  /// Calls f(sample) for each entry kept from the whole run. The weights add up to the number of measured chains, or to
  /// about the number of all loads.
  template <class F>
  void for_each(F f) const {
    const std::uint64_t count = count_.load(std::memory_order_acquire), kept = std::min<std::uint64_t>(count, size);
    for (std::size_t i = 0; i < kept; ++i) {
      MeasuredSample sample = run_[i].get();
      sample.weight *= static_cast<double>(count) / static_cast<double>(kept);
      f(sample);
    }
  }
  /// Calls f(sample) for each of the last entries.
  template <class F>
  void for_each_last(F f) const {
    const std::uint64_t kept = std::min<std::uint64_t>(count_.load(std::memory_order_acquire), size);
    for (std::size_t i = 0; i < kept; ++i) f(last_[i].get());
  }

 private:
  struct Entry {
    void set(const MeasuredSample& sample) noexcept {
      index.store(sample.index, std::memory_order_relaxed);
      read_ns.store(sample.read_ns, std::memory_order_relaxed);
      sample_ns.store(sample.sample_ns, std::memory_order_relaxed);
      weight.store(sample.weight, std::memory_order_relaxed);
    }
    MeasuredSample get() const noexcept {
      return {index.load(std::memory_order_relaxed), read_ns.load(std::memory_order_relaxed),
              sample_ns.load(std::memory_order_relaxed), weight.load(std::memory_order_relaxed)};
    }
    std::atomic<std::uint64_t> index{0}, read_ns{0}, sample_ns{0};
    std::atomic<double> weight{1};
  };
  std::array<Entry, size> run_, last_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace penstock::detail::runtime
