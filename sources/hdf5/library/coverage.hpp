// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "library/selection.hpp"

namespace penstock::hdf5 {

/// Finds the part of a virtual dataset that no mapping covers. `dims`: the dataset's dimensions, which must outlive the
/// object.
class Coverage {
 public:
  explicit Coverage(std::span<const std::int64_t> dims) : dims_(dims) {}

  void add(const Selection& to);
  struct Gaps {
    std::string words;     ///< describes the values that no mapping covers; empty: there are none
    bool overlap = false;  ///< whether some values may be in no mapping, and some in several
  };
  /// Describes the gaps. If mappings overlap, or if it takes too long to find that out, the text may only say that some
  /// values may be in no mapping.
  Gaps gaps();

 private:
  /// Rows of a mapping, or of a block of a mapping.
  struct Part {
    std::int64_t begin = 0, end = 0;
    std::size_t mapping = 0;
    std::vector<Selection::Axis> axes;  ///< in a dimension without an axis, every coordinate counts as covered
  };
  /// Returns whether it is certain that parts of different mappings do not overlap. Returns false if it would take too
  /// long to find that out.
  bool apart();
  bool may_meet(const Part& a, const Part& b) const noexcept;

  std::span<const std::int64_t> dims_;
  std::vector<RowPattern> rows_;
  std::vector<Part> parts_;
  std::size_t mappings_ = 0;
  std::int64_t points_ = 0;  ///< points of all parts together; points where parts overlap count more than once
  bool whole_rows_ = true, whole_ = false;
};

}  // namespace penstock::hdf5
