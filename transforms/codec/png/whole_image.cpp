// SPDX-License-Identifier: Apache-2.0
#include "whole_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include <penstock/error.hpp>

#include "filters.hpp"

namespace penstock::png {

namespace {

// Most bytes of inflated pixels, and of all working memory. libpng needs memory for only two rows.
constexpr std::uint64_t max_bytes = std::uint64_t{64} << 20, max_memory = 2 * max_bytes;
// libpng refuses a chunk of pixels that is longer than this, and much longer than the pixels.
constexpr std::uint64_t max_chunk = 8'000'000;

// A part of the pixels that is stored as an image of its own: all of them, or each of the seven passes of Adam7 (PNG
// specification, 8.2).
struct Pass {
  std::uint32_t left, top, step_x, step_y;

  std::uint32_t width(const Header& header) const { return pixels(header.width, left, step_x); }
  std::uint32_t height(const Header& header) const { return pixels(header.height, top, step_y); }

 private:
  static std::uint32_t pixels(std::uint32_t all, std::uint32_t first, std::uint32_t step) {
    return all <= first ? 0 : (all - first - 1) / step + 1;
  }
};
constexpr Pass whole{0, 0, 1, 1};
constexpr std::array<Pass, 7> adam7{
    {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};
std::span<const Pass> passes_of(const Header& header) {
  return header.interlaced ? std::span<const Pass>(adam7) : std::span<const Pass>(&whole, 1);
}

// Bytes of `width` pixels, without the filter's byte.
std::uint64_t stored_bytes(const Header& header, std::uint64_t width) { return (width * header.pixel_bits() + 7) / 8; }
std::size_t pixel_bytes(const Header& header) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(header.pixel_bits() / 8));
}

// Returns max_bytes + 1 if there are more.
std::uint64_t inflated_bytes(const Header& header) {
  std::uint64_t bytes = 0;
  for (const Pass& pass : passes_of(header)) {
    if (pass.width(header) == 0) continue;
    const std::uint64_t row = 1 + stored_bytes(header, pass.width(header)), rows = pass.height(header);
    if (row > max_bytes || rows * row > max_bytes) return max_bytes + 1;
    bytes += rows * row;
  }
  return std::min(bytes, max_bytes + 1);
}

// Bytes of a row for undo_filter, with what it may read or write after the row.
std::size_t undone_bytes(std::size_t row) { return (row + filter_margin + 63) / 64 * 64; }

// The rows of a pass, whose filters are undone one after another.
class StoredRows {
 public:
  // Number of rows of memory that the filters of `height` rows need.
  static std::size_t working_rows(std::uint32_t height) { return 1 + 2 * rows_in_turn(height); }

  // `bytes`: how many bytes of each row are needed, from its beginning. `stride` is from one row to the next. `undone`
  // is memory for working_rows(height) rows of undone_bytes(bytes).
  StoredRows(const std::uint8_t* first, std::size_t stride, std::size_t bytes, std::size_t pixel_bytes,
             std::uint32_t height, std::uint8_t* undone)
      : first_(first), stride_(stride), bytes_(bytes), pixel_bytes_(pixel_bytes), each_(undone_bytes(bytes)) {
    // Above the first row is a row of zeros.
    std::memset(undone, 0, each_);
    last_ = undone;
    turns_[0] = undone + each_;
    turns_[1] = turns_[0] + rows_in_turn(height) * each_;
  }

  // Returns whether the filters of rows [begin, end) exist.
  bool known(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t y = begin; y < end; ++y)
      if (filter(y) >= filters) return false;
    return true;
  }

  // Begins at the nearest row from `y` upwards that does not depend on the row above it. Returns its number.
  std::uint32_t begin_for(std::uint32_t y) {
    while (y > 0 && filter(y) > sub_filter) --y;
    return next_ = y;
  }

  // Undoes the filter of row `y`, the row after the last one, and returns the row. May undo the next rows, too, but
  // none from `end` on.
  const std::uint8_t* undo(std::uint32_t y, std::uint32_t end) {
    if (y == next_) undo_next(end);
    return last_ - (next_ - 1 - y) * each_;
  }

 private:
  static std::size_t rows_in_turn(std::uint32_t height) { return std::min<std::size_t>(height, most_rows_together); }

  void undo_next(std::uint32_t end) {
    const std::uint8_t* const stored = first_ + next_ * stride_ + 1;
    const std::size_t together = rows_together(pixel_bytes_);
    RowsToUndo rows{{}, stored, stride_, last_, bytes_, turns_[0], each_};
    std::swap(turns_[0], turns_[1]);
    if (next_ + together <= end) {
      for (std::size_t row = 0; row < together; ++row) rows.filters[row] = filter(next_ + row);
      if (faster_together(rows.filters, together)) {
        undo_filters(pixel_bytes_, rows);
        last_ = rows.out + (together - 1) * each_;
        next_ += static_cast<std::uint32_t>(together);
        return;
      }
    }
    if (filter(next_) == no_filter) {
      last_ = stored;
    } else {
      undo_filter(filter(next_), pixel_bytes_, stored, last_, bytes_, rows.out);
      last_ = rows.out;
    }
    ++next_;
  }

  Filter filter(std::size_t y) const { return static_cast<Filter>(first_[y * stride_]); }

  const std::uint8_t* first_;
  std::size_t stride_, bytes_, pixel_bytes_, each_;
  std::uint8_t* turns_[2];
  const std::uint8_t* last_;  // the row before the next one, without its filter
  std::uint32_t next_ = 0;
};

}  // namespace

bool WholeImage::decode(std::span<const std::byte> encoded, const Layout& layout, const Box& box, bool verify,
                        std::uint8_t* out, Scratch& scratch) {
  const Header& header = layout.header();
  const auto rows = static_cast<std::uint64_t>(box.top) + static_cast<std::uint64_t>(box.height);
  // The rest of the file is only a few bytes after the last row, so it is always checked then.
  const bool to_the_end = verify || header.interlaced || rows == header.height;
  // libpng inflates only the rows down to the box's end.
  if (!to_the_end && 4 * rows < header.height) return false;
  if (to_the_end && header.end_bytes != 0) return false;
  if (!read_palette(encoded, layout, palette_) || !read_transparent_color(encoded, layout, transparent_)) return false;
  const std::uint64_t bytes = inflated_bytes(header);
  if (bytes > max_bytes || header.bytes > max_bytes || header.longest > std::max(bytes, max_chunk)) return false;
  Memory memory(scratch);
  if (!take_memory(layout, static_cast<std::size_t>(bytes), scratch, memory) ||
      !inflater_.inflate(encoded, header, memory.joined, reinterpret_cast<std::byte*>(memory.stored),
                         static_cast<std::size_t>(bytes)))
    return false;
  return header.interlaced ? read_passes(layout, box, memory, out) : read_rows(layout, box, to_the_end, memory, out);
}

// Takes all memory at once, so that it can be given back, and libpng finds the scratch as it was if there is too
// little.
bool WholeImage::take_memory(const Layout& layout, std::size_t inflated_bytes, Scratch& scratch, Memory& memory) {
  const Header& header = layout.header();
  const std::uint64_t image = header.interlaced ? layout.row_bytes() * std::uint64_t{header.height} : 0;
  const auto aligned = [](std::uint64_t bytes) { return undone_bytes(static_cast<std::size_t>(bytes)); };
  const std::size_t joined = aligned(Inflater::joined_bytes(header)), stored = aligned(inflated_bytes),
                    undone = StoredRows::working_rows(header.height) * aligned(stored_bytes(header, header.width)),
                    row = aligned(layout.row_bytes()), all = joined + stored + undone + row;
  if (image > max_memory || all > max_memory - image) return false;
  try {
    memory.joined = scratch.allocate(all + static_cast<std::size_t>(image));
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return false;
  }
  memory.stored = reinterpret_cast<std::uint8_t*>(memory.joined) + joined;
  memory.undone = memory.stored + stored;
  memory.row = memory.undone + undone;
  memory.image = memory.row + row;
  return true;
}

bool WholeImage::read_rows(const Layout& layout, const Box& box, bool to_the_end, const Memory& memory,
                           std::uint8_t* out) const {
  const Header& header = layout.header();
  const ImageShape image = layout.shape();
  const auto top = static_cast<std::uint32_t>(box.top), end = top + static_cast<std::uint32_t>(box.height);
  const std::size_t out_row = static_cast<std::size_t>(box.width) * image.pixel_bytes();
  const std::size_t pixel = pixel_bytes(header);
  // Whether a stored row, without its filter, is a row of the image.
  const bool plain = header.depth == 8 && header.channels() == layout.row_channels() && layout.rows_are_image();
  // Filters look only to the left and above.
  const auto right = static_cast<std::uint64_t>(box.left) + static_cast<std::uint64_t>(box.width);
  StoredRows rows(memory.stored, static_cast<std::size_t>(1 + stored_bytes(header, header.width)),
                  static_cast<std::size_t>(stored_bytes(header, right)), pixel, header.height, memory.undone);
  if (!rows.known(0, to_the_end ? header.height : end)) return false;
  std::uint8_t* const row = plain || (header.color == palette && header.depth == 8) ? nullptr : memory.row;
  for (std::uint32_t y = rows.begin_for(top); y < end; ++y) {
    const std::uint8_t* const undone = rows.undo(y, end);
    if (y < top) continue;
    if (row == nullptr) {
      if (!take_pixels(layout, palette_, undone, box.left, box.width, out)) return false;
    } else if (header.depth < 8) {
      make_row(layout, transparent_, undone, static_cast<std::int32_t>(right), row);
      if (!take_pixels(layout, palette_, row, box.left, box.width, out)) return false;
    } else {
      make_row(layout, transparent_, undone + static_cast<std::size_t>(box.left) * pixel, box.width, row);
      if (!take_pixels(layout, palette_, row, 0, box.width, out)) return false;
    }
    out += out_row;
  }
  return true;
}

bool WholeImage::read_passes(const Layout& layout, const Box& box, const Memory& memory, std::uint8_t* out) const {
  const Header& header = layout.header();
  const std::size_t row_bytes = layout.row_bytes();
  const std::size_t pixel = static_cast<std::size_t>(layout.row_channels()) * layout.value_bytes();
  const std::uint8_t* stored = memory.stored;
  for (const Pass& pass : adam7) {
    const std::uint32_t width = pass.width(header), height = pass.height(header);
    if (width == 0 || height == 0) continue;
    const auto bytes = static_cast<std::size_t>(stored_bytes(header, width));
    StoredRows rows(stored, bytes + 1, bytes, pixel_bytes(header), height, memory.undone);
    if (!rows.known(0, height)) return false;
    for (std::uint32_t y = 0; y < height; ++y) {
      make_row(layout, transparent_, rows.undo(y, height), static_cast<std::int32_t>(width), memory.row);
      std::uint8_t* to = memory.image + (pass.top + std::size_t{y} * pass.step_y) * row_bytes + pass.left * pixel;
      for (std::size_t x = 0; x < width; ++x, to += pass.step_x * pixel) std::memcpy(to, memory.row + x * pixel, pixel);
    }
    stored += std::size_t{height} * (bytes + 1);
  }
  const std::size_t out_row = static_cast<std::size_t>(box.width) * layout.shape().pixel_bytes();
  for (std::int32_t y = 0; y < box.height; ++y, out += out_row)
    if (!take_pixels(layout, palette_, memory.image + static_cast<std::size_t>(box.top + y) * row_bytes, box.left,
                     box.width, out))
      return false;
  return true;
}

}  // namespace penstock::png
