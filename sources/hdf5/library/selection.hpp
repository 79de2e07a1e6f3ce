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

/// The part of a space of these dimensions that a virtual dataset selects, in its own space or a source's. All
/// dimensions are below 2^62. Elements are in the order of their coordinates.
class Selection {
 public:
  /// In one dimension: `count` blocks whose first elements are `stride` apart.
  struct Axis {
    std::int64_t start = 0, stride = 1, count = 1, block = 1;
    bool grows = false;  ///< it grows with the space: it has no fixed end

    /// Returns how many of its elements are below a coordinate.
    std::int64_t below(std::int64_t place) const noexcept;
  };

  /// Call under the lock.
  Selection(hid_t space, std::span<const std::int64_t> dims);

  bool all() const noexcept { return all_; }
  bool empty() const noexcept { return points_ == 0; }
  /// Returns whether it is a product of one pattern per dimension. If not, only rows and points are known.
  bool regular() const noexcept { return !axes_.empty(); }
  std::span<const Axis> axes() const noexcept { return axes_; }
  /// Returns the dimension that grows.
  std::optional<std::size_t> growing() const noexcept;
  /// Returns block `number` in the dimension that grows.
  Selection block(std::int64_t number, std::span<const std::int64_t> dims) const;
  /// Returns the number of dimensions that the space must have; 0 if any number will do.
  std::size_t rank() const noexcept { return all_ ? 0 : rank_; }
  /// Returns whether the space ends before the selection does.
  bool beyond(std::span<const std::int64_t> dims) const noexcept;

  /// Returns the number of elements within the dimensions.
  std::int64_t points() const noexcept { return points_; }
  /// Returns the rows with any selected element; the patterns together are exactly these rows.
  std::span<const RowPattern> rows() const noexcept { return rows_; }
  /// If regular: returns the number of coordinates in a dimension. In the growing dimension, only those within the
  /// dimensions count.
  std::int64_t places(std::size_t axis) const noexcept { return places_[axis]; }
  std::int64_t points_in_row() const noexcept { return places_.front() == 0 ? 0 : points_ / places_.front(); }

 private:
  void take_regular(hid_t space, std::span<const std::int64_t> dims);
  void take_blocks(hid_t space, std::int64_t rows);
  void measure(std::span<const std::int64_t> dims);

  bool all_ = false;
  std::size_t rank_ = 0;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> places_, ends_;  ///< for a regular selection; for others, after the last coordinate
  std::vector<RowPattern> rows_;
  std::int64_t points_ = 0;
};

/// How far a mapping of a source's elements to a virtual dataset's holds.
struct Extent {
  std::int64_t good_rows = 0;  ///< the first rows of the dataset, in order, that the source has
  std::string why;             ///< why the source does not have all of them; empty: it does
};

/// Returns which elements of `to` a source of these dimensions has; `from` maps to `to` element by element.
Extent extent_of(const Selection& to, const Selection& from, std::span<const std::int64_t> dims);

}  // namespace penstock::hdf5
