// SPDX-License-Identifier: Apache-2.0
#include "chunks.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <penstock/error.hpp>

#include "pixel_values.hpp"
#include "webp_size.hpp"

namespace penstock::tiff {

namespace {

class Decoding {
 public:
  Decoding(File& file, const Layout& layout, const Box& box, bool verify, Scratch& scratch)
      : file_(file), layout_(layout), box_(box), verify_(verify), scratch_(scratch) {
    read_palette(file, layout, palette_);
  }

  void run(std::uint8_t* out) {
    const std::int32_t height = layout_.chunk_height, width = layout_.chunk_width;
    const Box all{0, 0, layout_.height, layout_.width};
    const Box& touched = verify_ ? all : box_;
    for (std::int32_t y = touched.top / height; y <= (touched.top + touched.height - 1) / height; ++y)
      for (std::int32_t x = touched.left / width; x <= (touched.left + touched.width - 1) / width; ++x) {
        // Rows of a tile that are below the image are in the file, those of a strip are not.
        const std::int32_t rows = layout_.tiled ? height : std::min(height, layout_.height - y * height);
        take(Box{y * height, x * width, rows, width}, out);
      }
  }

 private:
  std::size_t pixel_bytes() const { return layout_.shape().pixel_bytes(); }
  std::size_t out_row() const { return static_cast<std::size_t>(box_.width) * pixel_bytes(); }

  void take(const Box& chunk, std::uint8_t* out) {
    const std::int32_t top = std::max(chunk.top, box_.top),
                       bottom = std::min(chunk.top + chunk.height, box_.top + box_.height);
    const std::int32_t left = std::max(chunk.left, box_.left),
                       right = std::min(chunk.left + chunk.width, box_.left + box_.width);
    if (top >= bottom || left >= right) {
      read(chunk, chunk.height, room());  // to verify it
      return;
    }
    std::uint8_t* const to = out + static_cast<std::size_t>(top - box_.top) * out_row() +
                             static_cast<std::size_t>(left - box_.left) * pixel_bytes();
    // Rows of a strip that are below the box are needed only to verify it.
    const std::int32_t rows = layout_.tiled || verify_ ? chunk.height : bottom - chunk.top;
    const bool in_place = layout_.rows_are_image() && top == chunk.top && chunk.top + rows == bottom &&
                          left == chunk.left && right == chunk.left + chunk.width && chunk.width == box_.width;
    if (in_place) return read(chunk, rows, to);
    read(chunk, rows, room());
    const std::size_t row = layout_.planes ? interleaved_row() : layout_.chunk_row_bytes();
    for (std::int32_t y = top; y < bottom; ++y)
      take_row(pixels_ + static_cast<std::size_t>(y - chunk.top) * row, left - chunk.left, right - left,
               to + static_cast<std::size_t>(y - top) * out_row());
  }

  void take_row(const std::uint8_t* row, std::int32_t left, std::int32_t width, std::uint8_t* out) const {
    if (layout_.rows_are_image()) {
      std::memcpy(out, row + static_cast<std::size_t>(left) * pixel_bytes(),
                  static_cast<std::size_t>(width) * pixel_bytes());
    } else {
      take_pixels(layout_, palette_, row, left, width, unpacked_, out);
    }
  }

  // Memory for a strip or tile, with its planes interleaved.
  std::uint8_t* room() {
    if (pixels_ != nullptr) return pixels_;
    const auto allocated = [&](std::size_t bytes) { return reinterpret_cast<std::uint8_t*>(scratch_.allocate(bytes)); };
    const auto height = static_cast<std::size_t>(layout_.chunk_height);
    pixels_ = allocated(height * (layout_.planes ? interleaved_row() : layout_.chunk_row_bytes()));
    if (layout_.planes) plane_ = allocated(height * layout_.chunk_row_bytes());
    if (layout_.bits < 8) unpacked_ = allocated(static_cast<std::size_t>(layout_.chunk_width));
    return pixels_;
  }
  std::size_t interleaved_row() const { return layout_.chunk_row_bytes() * static_cast<std::size_t>(layout_.samples); }

  // Reads the first rows of a strip, or a tile.
  void read(const Box& chunk, std::int32_t rows, std::uint8_t* to) {
    const std::uint32_t number =
        static_cast<std::uint32_t>(chunk.top / layout_.chunk_height) * layout_.chunks_across() +
        static_cast<std::uint32_t>(chunk.left / layout_.chunk_width);
    const std::size_t bytes = static_cast<std::size_t>(rows) * layout_.chunk_row_bytes();
    if (!layout_.planes) return read_chunk(number, chunk.height, to, bytes);
    for (int sample = 0; sample < layout_.samples; ++sample) {
      read_chunk(number + static_cast<std::uint32_t>(sample) * layout_.chunks, chunk.height, plane_, bytes);
      interleave(sample, bytes, to);
    }
  }

  void read_chunk(std::uint32_t number, std::int32_t height, std::uint8_t* to, std::size_t bytes) {
    check_bytes(number, height);
    if (layout_.compression == COMPRESSION_WEBP) check_webp(number, height);
    const bool deflate = layout_.compression == COMPRESSION_ADOBE_DEFLATE || layout_.compression == COMPRESSION_DEFLATE;
    if (deflate) std::memset(to + bytes - last_bytes(), unwritten, last_bytes());
    decode_chunk(number, to, bytes);
    if (!deflate || is_written(to + bytes)) return;
    TIFFSetField(file_.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
    decode_chunk(number, to, bytes);
    TIFFSetField(file_.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_LIBDEFLATE);
  }

  void decode_chunk(std::uint32_t number, std::uint8_t* to, std::size_t bytes) {
    if (layout_.tiled) {
      file_.read_tile(number, to, bytes);
    } else {
      file_.read_strip(number, to, bytes);
    }
  }

  // Some programs write Deflate streams that are longer than their strips. libtiff by libdeflate reports success for
  // them, and leaves the last bytes as they were. By zlib, it decodes them. So the last value is set before. If a byte
  // of it may be as it was, zlib decodes the strip again: about one strip in 256.
  static constexpr std::uint8_t unwritten = 0xa5;
  std::size_t last_bytes() const { return layout_.bits == 16 ? 2 : 1; }
  bool is_written(const std::uint8_t* end) const {
    const std::ptrdiff_t before = layout_.predicts && layout_.chunk_width > 1 ? layout_.chunk_samples() : 0;
    if (layout_.bits != 16)
      return static_cast<std::uint8_t>(end[-1] - (before != 0 ? end[-1 - before] : 0)) != unwritten;
    std::uint16_t last, predicted = 0;
    std::memcpy(&last, end - 2, 2);
    if (before != 0) std::memcpy(&predicted, end - 2 - 2 * before, 2);
    const auto stored = static_cast<std::uint16_t>(last - predicted);
    return stored >> 8 != unwritten && (stored & 0xff) != unwritten;
  }

  // Strips may share their bytes, and many bytes may stand for no pixel. The limit makes the work linear in the file.
  void check_bytes(std::uint32_t number, std::int32_t height) const {
    const std::uint64_t stored = TIFFGetStrileByteCount(file_.get(), number);
    if (stored == 0 && TIFFGetStrileOffset(file_.get(), number) == 0)
      throw Error(Errc::unsupported, "the TIFF leaves out strip or tile " + std::to_string(number) +
                                         ", and only complete images are decoded");
    constexpr std::uint64_t some = 4096;  // tables and headers
    const std::uint64_t pixels = static_cast<std::uint64_t>(height) * layout_.chunk_row_bytes();
    if (stored > 2 * pixels + some)
      throw Error(Errc::limit_exceeded, "strip or tile " + std::to_string(number) + " of the TIFF has " +
                                            std::to_string(stored) + " bytes for " + std::to_string(pixels) +
                                            " bytes of pixels");
  }

  void check_webp(std::uint32_t number, std::int32_t height) const {
    const std::span<const std::byte> encoded = file_.encoded();
    const std::uint64_t at = TIFFGetStrileOffset(file_.get(), number),
                        bytes = TIFFGetStrileByteCount(file_.get(), number);
    if (at <= encoded.size() && bytes <= encoded.size() - at &&
        webp_size(encoded.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes))) ==
            Size{height, layout_.chunk_width})
      return;
    throw Error(Errc::corrupt, "strip or tile " + std::to_string(number) + " of the TIFF is not a WebP of its size")
        .with_offset(std::min<std::uint64_t>(at, encoded.size()));
  }

  void interleave(int sample, std::size_t bytes, std::uint8_t* to) const {
    const auto samples = static_cast<std::size_t>(layout_.samples),
               each = static_cast<std::size_t>(std::max(layout_.bits / 8, 1));
    to += static_cast<std::size_t>(sample) * each;
    for (std::size_t i = 0; i < bytes; i += each, to += samples * each) std::memcpy(to, plane_ + i, each);
  }

  File& file_;
  const Layout& layout_;
  const Box& box_;
  bool verify_;
  Scratch& scratch_;
  Palette palette_;
  std::uint8_t *pixels_ = nullptr, *plane_ = nullptr, *unpacked_ = nullptr;
};

}  // namespace

void decode_box(File& file, const Layout& layout, const Box& box, bool verify, std::uint8_t* out, Scratch& scratch) {
  Decoding(file, layout, box, verify, scratch).run(out);
}

}  // namespace penstock::tiff
