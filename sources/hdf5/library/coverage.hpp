// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "library/selection.hpp"

namespace penstock::hdf5 {

/// The part of a virtual dataset that no mapping covers, for a dataset of these dimensions.
class Coverage {
 public:
  explicit Coverage(std::span<const std::int64_t> dims) : dims_(dims) {}

  void add(const Selection& to);
  struct Gaps {
    std::string words;     ///< the values in no mapping; empty: there are none
    bool overlap = false;  ///< there are such values, or may be, and mappings overlap
  };
  /// Describes the gaps. If mappings overlap in a way that is too costly to resolve, the text says that some values may
  /// be in none.
  Gaps gaps();

 private:
  /// Rows of a mapping, or of a block of a mapping.
  struct Part {
    std::int64_t begin = 0, end = 0;
    std::size_t mapping = 0;
    std::vector<Selection::Axis> axes;  ///< further dimensions are covered completely
  };
  /// Returns whether no two parts overlap; false also if that is too costly to find out.
  bool apart();
  bool may_meet(const Part& a, const Part& b) const noexcept;

  std::span<const std::int64_t> dims_;
  std::vector<RowPattern> rows_;
  std::vector<Part> parts_;
  std::size_t mappings_ = 0;
  std::int64_t points_ = 0;  ///< points of all parts; overlaps may count twice
  bool whole_rows_ = true, whole_ = false;
};

}  // namespace penstock::hdf5
