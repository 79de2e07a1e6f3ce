// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

class EntryReader;
class EntryWriter;

/// A place of a grid: its column and row, counted from the top left. For a place of a list, `column` and `row` are x
/// and y of the pixel of level 0 at which the place begins.
struct GridPlace {
  std::uint64_t column = 0, row = 0;
  friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

/// The places of one slide, and their order. A value.
class Grid {
 public:
  static constexpr std::uint64_t square = 8;  ///< places per side of a square

  Grid() = default;
  Grid(std::int64_t width, std::int64_t height, std::int64_t size, std::int64_t stride, SlideEdges edges,
       SlideOrder order);
  /// Returns a grid of one place, for a slide that can't be read.
  static Grid of_one();
  /// The pixel of level 0 at which a place of a list begins.
  struct Listed {
    std::int32_t x = 0, y = 0;
    friend auto operator<=>(const Listed&, const Listed&) = default;
  };
  /// Makes a list of places. `places` must all be different, and may be in any order. `stride`, in pixels of level 0,
  /// is the height of a row, and an eighth of the side of a square.
  static Grid of_list(std::vector<Listed> places, std::int64_t stride, SlideOrder order);

  void put(EntryWriter& to) const;
  /// @throws Error(corrupt), which names no file, if too few bytes are left, or they describe an impossible grid.
  static Grid get(EntryReader& from);

  std::uint64_t size() const noexcept {
    return is_list_ ? listed_.size() : kept_.empty() ? columns_ * rows_ : kept_size_;
  }
  bool is_list() const noexcept { return is_list_; }
  /// Returns the places of a list, in order.
  std::span<const Listed> listed() const noexcept { return listed_; }
  std::uint64_t columns() const noexcept { return columns_; }
  std::uint64_t rows() const noexcept { return rows_; }
  /// Leaves out places. `wanted` has a value for each of the size() places: whether the place stays. Takes a little
  /// more than a bit of memory per place of the whole grid, and none for a list.
  void keep(const std::vector<bool>& wanted);
  /// Returns a bit per place of the whole grid, set if the place is kept. Returns an empty span for a list, or if
  /// `keep` was never called.
  std::span<const std::uint64_t> kept() const noexcept { return kept_; }
  /// Returns place `number`, which must be below size(). See GridPlace for places of a list.
  GridPlace place(std::uint64_t number) const noexcept;
  /// Returns a place by its number among all places, including the places that were left out. `number` must be below
  /// columns() * rows().
  GridPlace place_of_all(std::uint64_t number) const noexcept;
  /// Returns a place's number among all places, including the places that were left out.
  std::uint64_t number_of_all(const GridPlace& place) const noexcept;
  /// Returns a grid of the same places in a different order. If `numbers` is not null, it receives, in the new order,
  /// the number that each place has in this grid.
  Grid in_order(SlideOrder order, std::vector<std::uint64_t>* numbers) const;
  SlideOrder order() const noexcept { return order_; }
  bool keeps(std::uint64_t number) const noexcept {
    return kept_.empty() || (kept_[number / word] >> number % word & 1) != 0;
  }
  /// Returns the number of rows, or of squares with `SlideOrder::squares`. For a list, only rows or squares that
  /// have places count. Otherwise, rows or squares without a kept place count, too.
  std::uint64_t ends() const noexcept;
  /// For each row or square that has kept places, appends the number of kept places up to its end, plus `first`.
  void append_ends(std::uint64_t first, std::vector<std::uint64_t>& ends) const;

 private:
  /// Returns the row, or the square, that a place of a list is in. Listed places are in the order of this value.
  std::array<std::int64_t, 2> band(const Listed& place) const noexcept;
  std::uint64_t kept_before(std::uint64_t number) const noexcept;
  void count_kept();

  static constexpr std::uint64_t word = 64, words_together = 8;
  std::uint64_t columns_ = 0, rows_ = 0, kept_size_ = 0;
  std::vector<std::uint64_t> kept_;         // a bit per place; if empty, all places are kept
  std::vector<std::uint64_t> kept_before_;  // number of kept places before each group of `words_together` words
  SlideOrder order_ = SlideOrder::rows;
  bool is_list_ = false;
  std::int64_t stride_ = 1;     // used only for a list, see `of_list`
  std::vector<Listed> listed_;  // the places of a list, in order
};

}  // namespace penstock::slide
