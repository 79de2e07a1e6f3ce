// SPDX-License-Identifier: Apache-2.0
#include "file/grid/grid.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <penstock/error.hpp>

#include "file/entry_bytes.hpp"

namespace penstock::slide {

namespace {

// Returns the number of places of `size` pixels along a side of `side` pixels.
std::uint64_t places(std::int64_t side, std::int64_t size, std::int64_t stride, SlideEdges edges) {
  if (side < 1) return 0;
  if (edges == SlideEdges::drop) return side < size ? 0 : static_cast<std::uint64_t>((side - size) / stride) + 1;
  // Takes as many places as are needed to reach the side's end. Each place has at least one pixel of the side.
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

Grid Grid::of_list(std::vector<Listed> places, std::int64_t stride, SlideOrder order) {
  Grid grid;
  grid.is_list_ = true;
  grid.order_ = order;
  grid.stride_ = stride;
  grid.listed_ = std::move(places);
  std::sort(grid.listed_.begin(), grid.listed_.end(), [&](const Listed& a, const Listed& b) {
    if (order == SlideOrder::squares && grid.band(a) != grid.band(b)) return grid.band(a) < grid.band(b);
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  return grid;
}

std::array<std::int64_t, 2> Grid::band(const Listed& place) const noexcept {
  if (order_ == SlideOrder::rows) return {place.y / stride_, 0};
  const auto side = stride_ * static_cast<std::int64_t>(square);
  return {place.y / side, place.x / side};
}

void Grid::keep(const std::vector<bool>& wanted) {
  if (is_list_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) listed_[kept++] = listed_[i];
    listed_.resize(kept);
    return;
  }
  std::vector<std::uint64_t> kept(static_cast<std::size_t>(columns_ * rows_ / word + 1));
  const bool again = !kept_.empty();
  std::size_t number = 0;  // the place's number among the places that were kept before this call
  for (std::uint64_t i = 0; i < columns_ * rows_; ++i) {
    if (again && !keeps(i)) continue;
    if (wanted[number++]) kept[static_cast<std::size_t>(i / word)] |= std::uint64_t{1} << i % word;
  }
  kept_ = std::move(kept);
  count_kept();
}

void Grid::count_kept() {
  kept_size_ = 0;
  kept_before_.clear();
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (i % words_together == 0) kept_before_.push_back(kept_size_);
    kept_size_ += static_cast<std::uint64_t>(std::popcount(kept_[i]));
  }
}

void Grid::put(EntryWriter& to) const {
  to.put(is_list_);
  to.put(order_);
  to.put(columns_);
  to.put(rows_);
  to.put(stride_);
  to.put_all(std::span<const std::uint64_t>(kept_));
  to.put_all(std::span<const Listed>(listed_));
}

Grid Grid::get(EntryReader& from) {
  Grid grid;
  grid.is_list_ = from.truth();
  grid.order_ = from.get<SlideOrder>();
  grid.columns_ = from.get<std::uint64_t>();
  grid.rows_ = from.get<std::uint64_t>();
  grid.stride_ = from.get<std::int64_t>();
  grid.kept_ = from.all<std::uint64_t>();
  grid.listed_ = from.all<Listed>();
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  const std::uint64_t places = grid.columns_ * grid.rows_;
  const bool possible =
      grid.columns_ < most && grid.rows_ < most && grid.stride_ > 0 && grid.order_ <= SlideOrder::squares &&
      (grid.kept_.empty() || (grid.kept_.size() == places / word + 1 && (grid.kept_.back() >> places % word) == 0)) &&
      std::ranges::none_of(grid.listed_, [](const Listed& at) { return at.x < 0 || at.y < 0; });
  if (!possible) throw Error(Errc::corrupt, "the places of a slide in it can't be as it says");
  if (!grid.kept_.empty()) grid.count_kept();
  return grid;
}

// Returns how many places before `number` are kept. `number` also counts the places that were left out.
std::uint64_t Grid::kept_before(std::uint64_t number) const noexcept {
  if (kept_.empty()) return number;
  if (number == columns_ * rows_) return kept_size_;
  const std::uint64_t group = number / (word * words_together);
  std::uint64_t count = kept_before_[group];
  for (std::uint64_t i = group * words_together; i < number / word; ++i)
    count += static_cast<std::uint64_t>(std::popcount(kept_[i]));
  return count +
         static_cast<std::uint64_t>(std::popcount(kept_[number / word] & ((std::uint64_t{1} << number % word) - 1)));
}

GridPlace Grid::place(std::uint64_t number) const noexcept {
  if (is_list_) {
    const Listed& listed = listed_[static_cast<std::size_t>(number)];
    return {static_cast<std::uint64_t>(listed.x), static_cast<std::uint64_t>(listed.y)};
  }
  if (kept_.empty()) return place_of_all(number);
  // Finds the last group of words that has at most `number` kept places before it.
  const auto group = std::upper_bound(kept_before_.begin(), kept_before_.end(), number) - kept_before_.begin() - 1;
  std::uint64_t left = number - kept_before_[static_cast<std::size_t>(group)];
  std::uint64_t at = static_cast<std::uint64_t>(group) * words_together;
  while (left >= static_cast<std::uint64_t>(std::popcount(kept_[at])))
    left -= static_cast<std::uint64_t>(std::popcount(kept_[at++]));
  std::uint64_t bits = kept_[at];
  for (; left != 0; --left) bits &= bits - 1;
  return place_of_all(at * word + static_cast<std::uint64_t>(std::countr_zero(bits)));
}

GridPlace Grid::place_of_all(std::uint64_t number) const noexcept {
  if (order_ == SlideOrder::rows) return {number % columns_, number / columns_};
  const std::uint64_t band = number / (square * columns_), in_band = number % (square * columns_);
  const std::uint64_t height = std::min(square, rows_ - band * square);
  const std::uint64_t left = in_band / (square * height) * square, in_square = in_band - left * height;
  const std::uint64_t width = std::min(square, columns_ - left);
  return {left + in_square % width, band * square + in_square / width};
}

std::uint64_t Grid::number_of_all(const GridPlace& place) const noexcept {
  if (order_ == SlideOrder::rows) return place.row * columns_ + place.column;
  const std::uint64_t top = place.row / square * square, left = place.column / square * square;
  const std::uint64_t height = std::min(square, rows_ - top), width = std::min(square, columns_ - left);
  return top * columns_ + left * height + (place.row - top) * width + place.column - left;
}

Grid Grid::in_order(SlideOrder order, std::vector<std::uint64_t>* numbers) const {
  Grid other = *this;
  other.order_ = order;
  if (is_list_) {
    other.listed_ = of_list(listed_, stride_, order).listed_;
    if (numbers == nullptr) return other;
    std::vector<std::pair<Listed, std::uint64_t>> sorted;
    for (std::size_t i = 0; i < listed_.size(); ++i) sorted.emplace_back(listed_[i], i);
    std::sort(sorted.begin(), sorted.end());
    for (const Listed& place : other.listed_)
      numbers->push_back(std::lower_bound(sorted.begin(), sorted.end(), std::pair(place, std::uint64_t{0}))->second);
    return other;
  }
  if (kept_.empty() && numbers == nullptr) return other;
  other.kept_.assign(kept_.size(), 0);
  for (std::uint64_t i = 0; i < columns_ * rows_; ++i) {
    const std::uint64_t number = number_of_all(other.place_of_all(i));
    if (!keeps(number)) continue;
    if (numbers != nullptr) numbers->push_back(kept_before(number));
    if (!kept_.empty()) other.kept_[static_cast<std::size_t>(i / word)] |= std::uint64_t{1} << i % word;
  }
  if (!kept_.empty()) other.count_kept();
  return other;
}

std::uint64_t Grid::ends() const noexcept {
  if (is_list_) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < listed_.size(); ++i)
      if (i + 1 == listed_.size() || band(listed_[i]) != band(listed_[i + 1])) ++count;
    return count;
  }
  if (order_ == SlideOrder::rows) return rows_;
  return (rows_ + square - 1) / square * ((columns_ + square - 1) / square);
}

void Grid::append_ends(std::uint64_t first, std::vector<std::uint64_t>& ends) const {
  if (is_list_) {
    for (std::size_t i = 0; i < listed_.size(); ++i)
      if (i + 1 == listed_.size() || band(listed_[i]) != band(listed_[i + 1])) ends.push_back(first + i + 1);
    return;
  }
  const std::uint64_t high = order_ == SlideOrder::rows ? 1 : square,
                      wide = order_ == SlideOrder::rows ? columns_ : square;
  std::uint64_t all = 0;
  for (std::uint64_t top = 0; top < rows_; top += high) {
    const std::uint64_t height = std::min(high, rows_ - top);
    for (std::uint64_t left = 0; left < columns_; left += wide) {
      const std::uint64_t before = kept_before(all);
      all += height * std::min(wide, columns_ - left);
      if (const std::uint64_t end = kept_before(all); end != before) ends.push_back(first + end);
    }
  }
}

}  // namespace penstock::slide
