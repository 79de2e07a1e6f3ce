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

/// A place of a grid: which one from the left and from the top; of a list, its pixels.
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
  /// A grid of one place, whatever is there.
  static Grid of_one();
  /// A pixel of the image at which a place begins.
  struct Listed {
    std::int32_t x = 0, y = 0;
    friend auto operator<=>(const Listed&, const Listed&) = default;
  };
  /// A list of places, all different, in whichever order. `stride` is that of rows and squares.
  static Grid of_list(std::vector<Listed> places, std::int64_t stride, SlideOrder order);

  void put(EntryWriter& to) const;
  /// @throws Error(corrupt), without a file.
  static Grid get(EntryReader& from);

  std::uint64_t size() const noexcept {
    return is_list_ ? listed_.size() : kept_.empty() ? columns_ * rows_ : kept_size_;
  }
  bool is_list() const noexcept { return is_list_; }
  /// The places of a list, in their order.
  std::span<const Listed> listed() const noexcept { return listed_; }
  std::uint64_t columns() const noexcept { return columns_; }
  std::uint64_t rows() const noexcept { return rows_; }
  /// Leaves out places. `wanted`: for each of size() whether it stays. Takes a little more than a bit a place.
  void keep(const std::vector<bool>& wanted);
  /// A bit for each place whether it stays; empty where all do.
  std::span<const std::uint64_t> kept() const noexcept { return kept_; }
  /// `number` is below size(). Of a list: its pixels of the image.
  GridPlace place(std::uint64_t number) const noexcept;
  /// A place by its number among all, those included that are left out: `number` is below columns() * rows().
  GridPlace place_of_all(std::uint64_t number) const noexcept;
  /// The number of a place among all.
  std::uint64_t number_of_all(const GridPlace& place) const noexcept;
  /// A grid of these places in another order, and where `numbers` is not null, for each of them its number in this one.
  Grid in_order(SlideOrder order, std::vector<std::uint64_t>* numbers) const;
  SlideOrder order() const noexcept { return order_; }
  bool keeps(std::uint64_t number) const noexcept {
    return kept_.empty() || (kept_[number / word] >> number % word & 1) != 0;
  }
  /// How many rows, or squares, there are; fewer have places that are kept.
  std::uint64_t ends() const noexcept;
  /// Appends the number of places up to the end of each row, or square, that has any, plus `first`.
  void append_ends(std::uint64_t first, std::vector<std::uint64_t>& ends) const;

 private:
  /// Which row, or square, a place of a list is in; these ascend.
  std::array<std::int64_t, 2> band(const Listed& place) const noexcept;
  std::uint64_t kept_before(std::uint64_t number) const noexcept;
  void count_kept();

  static constexpr std::uint64_t word = 64, words_together = 8;
  std::uint64_t columns_ = 0, rows_ = 0, kept_size_ = 0;
  std::vector<std::uint64_t> kept_;         // a bit for each of all places; empty: all are kept
  std::vector<std::uint64_t> kept_before_;  // so many words
  SlideOrder order_ = SlideOrder::rows;
  bool is_list_ = false;
  std::int64_t stride_ = 1;     // stride of a list's places
  std::vector<Listed> listed_;  // its places, in order
};

}  // namespace penstock::slide
