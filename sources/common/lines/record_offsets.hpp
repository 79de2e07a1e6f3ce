// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::common {

/// Ascending offsets in a file, which take 4 bytes each.
class RecordOffsets {
 public:
  std::uint64_t size() const noexcept { return low_.size(); }
  bool empty() const noexcept { return low_.empty(); }
  std::uint64_t operator[](std::uint64_t record) const noexcept { return high(record) + low_[record]; }

  void push_back(std::uint64_t offset) {
    const auto low = static_cast<std::uint32_t>(offset);
    if (offset - low != (steps_.empty() ? 0 : steps_.back().high)) steps_.push_back({size(), offset - low});
    low_.push_back(low);
  }
  void shrink_to_fit() { low_.shrink_to_fit(); }

  /// Prefetches what `operator[]` reads.
  void prefetch(std::uint64_t record) const noexcept { __builtin_prefetch(low_.data() + record); }

 private:
  // `high`, a multiple of 2^32, is added to the offsets of `record` and later records, until the next step.
  struct Step {
    std::uint64_t record, high;
  };
  std::uint64_t high(std::uint64_t record) const noexcept {
    if (steps_.empty()) return 0;
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), record,
                                        [](std::uint64_t r, const Step& step) { return r < step.record; });
    return after == steps_.begin() ? 0 : (after - 1)->high;
  }

  std::vector<std::uint32_t> low_;
  std::vector<Step> steps_;
};

}  // namespace penstock::common
