#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/library.hpp"
#include "library/row_faults.hpp"

namespace penstock::hdf5 {

/// What a virtual dataset picks of a space of these dimensions, all of which are below 2^62: of its own, or of a
/// source's. Elements are in the order of their places.
class Selection {
 public:
  /// Along a dimension: `count` blocks whose beginnings are `stride` apart.
  struct Axis {
    std::int64_t start = 0, stride = 1, count = 1, block = 1;
    bool grows = false;  ///< with the space: its end is not said

    /// How many it has below a place.
    std::int64_t below(std::int64_t place) const noexcept;
  };

  /// Under the lock.
  Selection(hid_t space, std::span<const std::int64_t> dims);

  bool all() const noexcept { return all_; }
  bool empty() const noexcept { return points_ == 0; }
  /// A product of one pattern a dimension; else only rows and points are known.
  bool regular() const noexcept { return !axes_.empty(); }
  std::span<const Axis> axes() const noexcept { return axes_; }
  /// The dimension that grows.
  std::optional<std::size_t> growing() const noexcept;
  /// Its block of that number along the dimension that grows.
  Selection block(std::int64_t number, std::span<const std::int64_t> dims) const;
  /// Dimensions that the space has to have; 0 where any will do.
  std::size_t rank() const noexcept { return all_ ? 0 : rank_; }
  /// The space ends before it does.
  bool beyond(std::span<const std::int64_t> dims) const noexcept;

  /// Elements within the dimensions.
  std::int64_t points() const noexcept { return points_; }
  /// Rows with any of them; together they are all such rows.
  std::span<const RowPattern> rows() const noexcept { return rows_; }
  /// Where regular: how many places it has along a dimension; of the one that grows, within the dimensions.
  std::int64_t places(std::size_t axis) const noexcept { return places_[axis]; }
  std::int64_t points_in_row() const noexcept { return places_.front() == 0 ? 0 : points_ / places_.front(); }

 private:
  void take_regular(hid_t space, std::span<const std::int64_t> dims);
  void take_blocks(hid_t space, std::int64_t rows);
  void measure(std::span<const std::int64_t> dims);

  bool all_ = false;
  std::size_t rank_ = 0;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> places_, ends_;  ///< of what is regular; of what is not, beyond the last place
  std::vector<RowPattern> rows_;
  std::int64_t points_ = 0;
};

/// How far a mapping of a source's elements to those of a virtual dataset holds.
struct Extent {
  std::int64_t good_rows = 0;  ///< those of the dataset's rows, in their order, that the source has
  std::string why;             ///< why not all of them; empty: all are there
};

/// Of the elements of `to`, which `from` becomes one by one, those that a source of these dimensions has.
Extent extent_of(const Selection& to, const Selection& from, std::span<const std::int64_t> dims);

}  // namespace penstock::hdf5
