// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/library.hpp"
#include "library/row_faults.hpp"

namespace penstock::hdf5 {

/// The elements that a mapping selects in one space. The space is that of the virtual dataset, or that of a source
/// dataset. `dims`: the dimensions of the space, all below 2^62. The elements are in the order of their coordinates.
class Selection {
 public:
  /// The coordinates in one dimension: `count` blocks of `block` elements, whose first elements are `stride` apart.
  struct Axis {
    std::int64_t start = 0, stride = 1, count = 1, block = 1;
    bool grows = false;  ///< whether the axis has no fixed end, and grows with the space

    /// Returns how many of the selected coordinates are below `place`.
    std::int64_t below(std::int64_t place) const noexcept;
  };

  /// Call under the lock.
  Selection(hid_t space, std::span<const std::int64_t> dims);

  bool all() const noexcept { return all_; }
  bool empty() const noexcept { return points_ == 0; }
  /// Returns whether the selection is a product of one pattern per dimension. If not, only its rows and points are
  /// known.
  bool regular() const noexcept { return !axes_.empty(); }
  std::span<const Axis> axes() const noexcept { return axes_; }
  /// Returns the dimension that grows, if there is one.
  std::optional<std::size_t> growing() const noexcept;
  /// Returns the part of the selection in block `number` of the growing dimension. REQUIRES: a dimension grows.
  Selection block(std::int64_t number, std::span<const std::int64_t> dims) const;
  /// Returns the number of dimensions that the space must have; 0 if it may have any number.
  std::size_t rank() const noexcept { return all_ ? 0 : rank_; }
  /// Returns whether the selection goes beyond the end of the space. The growing dimension is not compared.
  bool beyond(std::span<const std::int64_t> dims) const noexcept;

  /// Returns the number of selected elements. In the growing dimension, only coordinates within the space count.
  std::int64_t points() const noexcept { return points_; }
  /// Returns the rows that have selected elements. The patterns together are exactly these rows.
  std::span<const RowPattern> rows() const noexcept { return rows_; }
  /// Returns the number of selected coordinates in a dimension. In the growing dimension, only coordinates within the
  /// space count. REQUIRES: `regular()`.
  std::int64_t places(std::size_t axis) const noexcept { return places_[axis]; }
  std::int64_t points_in_row() const noexcept { return places_.front() == 0 ? 0 : points_ / places_.front(); }

 private:
  void take_regular(hid_t space, std::span<const std::int64_t> dims);
  void take_blocks(hid_t space, std::int64_t rows);
  void measure(std::span<const std::int64_t> dims);

  bool all_ = false;
  std::size_t rank_ = 0;
  std::vector<Axis> axes_;
  /// `places_`: the results of `places`, if the selection is regular. `ends_`: if it is a list of blocks, the
  /// coordinate after the last selected one in each dimension. Otherwise each is empty.
  std::vector<std::int64_t> places_, ends_;
  std::vector<RowPattern> rows_;
  std::int64_t points_ = 0;
};

/// How many rows of a mapping a source has.
struct AvailableRows {
  std::int64_t good_rows = 0;  ///< how many of the mapping's first rows the source has; unused if `why` is empty
  std::string why;             ///< why the source does not have all rows; empty: it has all
};

/// Returns how many rows of a mapping a source has. `to`: the elements of the virtual dataset. `from`: the elements of
/// the source, in the same order. `dims`: the source's dimensions.
AvailableRows available_rows(const Selection& to, const Selection& from, std::span<const std::int64_t> dims);

}  // namespace penstock::hdf5
