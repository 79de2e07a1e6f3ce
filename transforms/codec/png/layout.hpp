// SPDX-License-Identifier: Apache-2.0
// What a PNG's header and the options say about the image, and about the rows that it is made from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chunks.hpp"

namespace penstock::png {

// A row has values of one or two bytes: indices of a palette, or the channels that are asked for, or RGB that becomes
// grey. libpng makes these rows, or make_row() does, with the same bytes.
class Layout {
 public:
  // Checks everything that the header says. @throws like ImageDecoding::open.
  Layout(const Header& header, const PngOptions& options);

  const Header& header() const noexcept { return header_; }
  ImageShape shape() const noexcept;
  // Number of values per pixel in rows: 1 for indices of a palette, 3 for colours that become `gray`, otherwise the
  // number of shape()'s channels.
  int row_channels() const noexcept;
  // Bytes per value in rows: 1, or 2 in the machine's order.
  std::size_t value_bytes() const noexcept { return header_.depth == 16 && options_.dtype == DType::u16 ? 2 : 1; }
  std::size_t row_bytes() const noexcept {
    return std::size_t{header_.width} * static_cast<std::size_t>(row_channels()) * value_bytes();
  }
  // Factor by which values of 1 byte are multiplied if the result's values have 2 bytes.
  std::uint16_t widening() const noexcept { return is_labels() ? 1 : 257; }
  // Returns whether rows are rows of the image, without a conversion.
  bool rows_are_image() const noexcept;

  // Returns whether the values in rows are indices of a palette that become colours.
  bool indexed() const noexcept { return header_.color == palette && !is_labels(); }
  bool is_labels() const noexcept { return options_.color == PngOptions::labels; }
  bool is_gray() const noexcept { return options_.color == PngOptions::gray; }
  bool wants_colors() const noexcept { return options_.color == PngOptions::rgb || options_.color == PngOptions::rgba; }
  // Returns whether the stored pixels have colours, or opacity.
  bool has_color() const noexcept { return header_.color != png::gray && header_.color != gray_alpha; }
  bool has_alpha() const noexcept { return header_.color == gray_alpha || header_.color == png::rgba; }
  bool keeps_alpha() const noexcept {
    return options_.color == PngOptions::rgba || options_.color == PngOptions::as_stored;
  }
  // Returns whether the result has opacity in any case, also if the file has none.
  bool adds_alpha() const noexcept { return options_.color == PngOptions::rgba; }

 private:
  void check_kind() const;
  void check_size() const;

  Header header_;
  PngOptions options_;
};

}  // namespace penstock::png
