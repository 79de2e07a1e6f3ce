// SPDX-License-Identifier: Apache-2.0
#include "by_libpng.hpp"

#include <string>

#include <penstock/error.hpp>

#include "pixel_values.hpp"
#include "reader.hpp"

namespace penstock::png {

namespace {

class Decoding {
 public:
  Decoding(std::span<const std::byte> encoded, const Layout& layout, const Box& box, Scratch& scratch)
      : layout_(layout), box_(box), scratch_(scratch), reader_(encoded, layout) {
    read_palette(encoded, layout, palette_);  // libpng has refused a wrong one
  }

  void read_rows(bool verify, std::uint8_t* out) {
    const ImageShape whole = layout_.shape();
    const bool direct = box_.width == whole.width && layout_.rows_are_image();
    const bool to_the_end = verify || box_.top + box_.height == whole.height;
    std::uint8_t* const row = !direct || box_.top > 0 || to_the_end ? room(layout_.row_bytes()) : nullptr;
    for (std::int32_t y = 0; y < box_.top; ++y) reader_.read_row(row);
    for (std::int32_t y = 0; y < box_.height; ++y, out += out_row()) {
      reader_.read_row(direct ? out : row);
      if (!direct) take(row, out);
    }
    if (!to_the_end) return;
    for (std::int32_t y = box_.top + box_.height; y < whole.height; ++y) reader_.read_row(row);
    reader_.finish();
  }

  // Reads all passes of an interlaced image, because its pixels are complete only after the last pass.
  void read_passes(std::uint8_t* out) {
    const ImageShape whole = layout_.shape();
    const std::size_t bytes = layout_.row_bytes(), height = static_cast<std::size_t>(whole.height);
    const bool direct = box_ == Box{0, 0, whole.height, whole.width} && layout_.rows_are_image();
    std::uint8_t* const image = direct ? out : room(bytes * height);
    for (int pass = 0; pass < reader_.passes(); ++pass)
      for (std::size_t y = 0; y < height; ++y) reader_.read_row(image + y * bytes);
    reader_.finish();
    if (direct) return;
    for (std::int32_t y = 0; y < box_.height; ++y, out += out_row())
      take(image + static_cast<std::size_t>(box_.top + y) * bytes, out);
  }

 private:
  std::size_t out_row() const { return static_cast<std::size_t>(box_.width) * layout_.shape().pixel_bytes(); }
  std::uint8_t* room(std::size_t bytes) { return reinterpret_cast<std::uint8_t*>(scratch_.allocate(bytes)); }

  void take(const std::uint8_t* row, std::uint8_t* out) const {
    if (take_pixels(layout_, palette_, row, box_.left, box_.width, out)) return;
    throw Error(Errc::corrupt, "the PNG has a pixel of colour " +
                                   std::to_string(missing_color(palette_, row, box_.left, box_.width)) +
                                   ", but its palette has " + std::to_string(palette_.size))
        .with_offset(reader_.offset());
  }

  const Layout& layout_;
  const Box& box_;
  Scratch& scratch_;
  Reader reader_;
  Palette palette_;
};

}  // namespace

void decode_by_libpng(std::span<const std::byte> encoded, const Layout& layout, const Box& box, bool verify,
                      std::uint8_t* out, Scratch& scratch) {
  Decoding decoding(encoded, layout, box, scratch);
  if (layout.header().interlaced) {
    decoding.read_passes(out);
  } else {
    decoding.read_rows(verify, out);
  }
}

}  // namespace penstock::png
