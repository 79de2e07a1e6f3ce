// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::hdf5 {

/// Rows at equal distances: `count` blocks of `block` rows each, whose first rows are `stride` apart. The first block
/// begins at row `start`. Only rows from `from` to `to` (exclusive) belong to the pattern.
struct RowPattern {
  std::int64_t start = 0, stride = 1, count = 1, block = 0;
  std::int64_t from = 0, to = 0;

  static RowPattern of_rows(std::int64_t first, std::int64_t end) {
    return {first, end - first, 1, end - first, first, end};
  }

  bool together() const noexcept { return count == 1 || stride == block; }
  /// Returns the pattern's first row in [begin, end); none if it has no row there.
  std::optional<std::int64_t> first_in(std::int64_t begin, std::int64_t end) const noexcept;
  /// Returns row `number` of the pattern, counted from 0 at `start`.
  std::int64_t row(std::int64_t number) const noexcept { return start + number / block * stride + number % block; }
  std::int64_t first() const noexcept { return first_in(from, to).value_or(to); }
  /// Returns the row after the last block, but at most `to`.
  std::int64_t end() const noexcept;
  /// Returns "row 3", "rows 3 to 9", or "some of the rows 0 to 98".
  std::string words() const;
};

/// Rows of a dataset that can't be read, and why. For each different distance of blocks, a search takes time
/// logarithmic in the number of patterns and linear in the patterns that overlap.
class RowFaults {
 public:
  using Why = std::shared_ptr<const std::string>;  ///< many patterns may share a reason

  void add(const RowPattern& rows, Why why);
  /// Call this after the last `add` and before any search.
  void sort();

  bool empty() const noexcept { return faults_.empty(); }
  /// Returns why a row in [begin, end) can't be read; null if all can.
  const std::string* find(std::int64_t begin, std::int64_t end) const;
  /// Calls `act(rows, why)` for each pattern with rows in [begin, end), until a call returns true. Returns whether a
  /// call returned true. May call `act` twice for a pattern.
  template <class Act>
  bool any_of(std::int64_t begin, std::int64_t end, Act act) const {
    for (const Group& group : groups_) {
      if (group.distance == 0) {
        if (any_near(group, begin, end, begin, end, act)) return true;
        continue;
      }
      const std::int64_t place = begin % group.distance, beyond = place + std::min(end - begin, group.distance);
      for (const std::int64_t turn : {-group.distance, std::int64_t{0}, group.distance})
        if (any_near(group, begin, end, place + turn, beyond + turn, act)) return true;
    }
    return false;
  }
  /// Describes the first few faults: "rows 3 to 9 can't be read: …".
  std::vector<std::string> words() const;
  /// Returns, for each stretch of unreadable rows in order, its first row and the row after it. Returns empty if there
  /// are too many stretches.
  std::vector<std::uint64_t> stretches() const;

 private:
  struct Fault {
    RowPattern rows;
    Why why;
  };
  struct Place {
    std::int64_t begin = 0, end = 0;  ///< `end`: the largest end of this place and all places before it
    std::size_t fault = 0;
  };
  /// The patterns whose blocks have the same distance, ordered by their positions modulo this distance. Patterns that
  /// are ranges have the distance 0 and are ordered by their rows.
  struct Group {
    std::int64_t distance = 0;
    std::vector<Place> places;
  };

  template <class Act>
  bool any_near(const Group& group, std::int64_t begin, std::int64_t end, std::int64_t place, std::int64_t beyond,
                Act& act) const {
    auto at = std::ranges::lower_bound(group.places, beyond, {}, &Place::begin);
    while (at != group.places.begin() && (--at)->end > place) {
      const Fault& fault = faults_[at->fault];
      if (fault.rows.first_in(begin, end) && act(fault.rows, fault.why)) return true;
    }
    return false;
  }

  std::vector<Fault> faults_;  ///< in the order of their first rows
  std::vector<Group> groups_;
};

}  // namespace penstock::hdf5
