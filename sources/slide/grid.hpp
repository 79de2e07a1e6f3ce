#pragma once

#include <cstdint>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// A place of a grid: which one from the left and from the top.
struct GridPlace {
  std::uint64_t column = 0, row = 0;
  friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

/// The places of one slide, and their numbers. A value.
class Grid {
 public:
  static constexpr std::uint64_t square = 8;  ///< places on a side

  Grid() = default;
  Grid(std::int64_t width, std::int64_t height, std::int64_t size, std::int64_t stride, SlideEdges edges,
       SlideOrder order);
  /// Of one place, whatever is there.
  static Grid of_one();

  std::uint64_t size() const noexcept { return columns_ * rows_; }
  std::uint64_t columns() const noexcept { return columns_; }
  /// `number` is below size().
  GridPlace place(std::uint64_t number) const noexcept;
  /// How many rows, or squares, there are.
  std::uint64_t ends() const noexcept;
  /// Appends the number of places up to the end of each row, or square, plus `first`.
  void append_ends(std::uint64_t first, std::vector<std::uint64_t>& ends) const;

 private:
  std::uint64_t columns_ = 0, rows_ = 0;
  SlideOrder order_ = SlideOrder::rows;
};

}  // namespace penstock::slide
