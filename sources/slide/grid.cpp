#include "grid.hpp"

#include <algorithm>

namespace penstock::slide {

namespace {

// Places along a side.
std::uint64_t places(std::int64_t side, std::int64_t size, std::int64_t stride, SlideEdges edges) {
  if (side < 1) return 0;
  if (edges == SlideEdges::drop) return side < size ? 0 : static_cast<std::uint64_t>((side - size) / stride) + 1;
  // As many as cover the side, each with a pixel of it at least.
  const std::int64_t cover = side <= size ? 1 : (side - size + stride - 1) / stride + 1;
  return static_cast<std::uint64_t>(std::min(cover, (side + stride - 1) / stride));
}

}  // namespace

Grid::Grid(std::int64_t width, std::int64_t height, std::int64_t size, std::int64_t stride, SlideEdges edges,
           SlideOrder order)
    : columns_(places(width, size, stride, edges)), rows_(places(height, size, stride, edges)), order_(order) {
  if (columns_ == 0 || rows_ == 0) columns_ = rows_ = 0;
}

Grid Grid::of_one() {
  Grid grid;
  grid.columns_ = grid.rows_ = 1;
  return grid;
}

GridPlace Grid::place(std::uint64_t number) const noexcept {
  if (order_ == SlideOrder::rows) return {number % columns_, number / columns_};
  const std::uint64_t band = number / (square * columns_), in_band = number % (square * columns_);
  const std::uint64_t height = std::min(square, rows_ - band * square);
  const std::uint64_t left = in_band / (square * height) * square, in_square = in_band - left * height;
  const std::uint64_t width = std::min(square, columns_ - left);
  return {left + in_square % width, band * square + in_square / width};
}

std::uint64_t Grid::ends() const noexcept {
  if (order_ == SlideOrder::rows) return rows_;
  return (rows_ + square - 1) / square * ((columns_ + square - 1) / square);
}

void Grid::append_ends(std::uint64_t first, std::vector<std::uint64_t>& ends) const {
  const std::uint64_t high = order_ == SlideOrder::rows ? 1 : square,
                      wide = order_ == SlideOrder::rows ? columns_ : square;
  for (std::uint64_t top = 0; top < rows_; top += high) {
    const std::uint64_t height = std::min(high, rows_ - top);
    for (std::uint64_t left = 0; left < columns_; left += wide)
      ends.push_back(first += height * std::min(wide, columns_ - left));
  }
}

}  // namespace penstock::slide
