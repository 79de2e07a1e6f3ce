// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_png.hpp>

#include "../decoders_beside.hpp"
#include "../photographs.hpp"
#include "../pictures.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

[[noreturn]] void refuse(png_structp, png_const_charp) { throw std::runtime_error("libpng refused a picture"); }

// Returns a PNG as libpng writes it with its own settings. With `with_palette`, an image of one channel has the palette
// of a mask.
std::vector<std::byte> encoded(const Picture& picture, bool with_palette) {
  const auto& [pixels, size, channels] = picture;
  std::vector<std::byte> file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, refuse, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp to, png_bytep data, png_size_t bytes) {
        auto& out = *static_cast<std::vector<std::byte>*>(png_get_io_ptr(to));
        const auto* const from = reinterpret_cast<const std::byte*>(data);
        out.insert(out.end(), from, from + bytes);
      },
      nullptr);
  const auto width = static_cast<png_uint_32>(size.width), height = static_cast<png_uint_32>(size.height);
  png_set_IHDR(png, info, width, height, 8,
               channels == 3  ? PNG_COLOR_TYPE_RGB
               : with_palette ? PNG_COLOR_TYPE_PALETTE
                              : PNG_COLOR_TYPE_GRAY,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color colors[8] = {{0, 0, 0},   {128, 0, 0},   {0, 128, 0},   {128, 128, 0},
                               {0, 0, 128}, {128, 0, 128}, {0, 128, 128}, {128, 128, 128}};
  if (with_palette) png_set_PLTE(png, info, colors, 8);
  png_write_info(png, info);
  for (png_uint_32 y = 0; y < height; ++y)
    png_write_row(png, pixels.data() + std::size_t{y} * width * static_cast<unsigned>(channels));
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Uses libpng as its manual says: row by row, with its own checks.
std::vector<std::byte> with_palette(const Picture& picture) { return encoded(picture, true); }
std::vector<std::byte> without_palette(const Picture& picture) { return encoded(picture, false); }

class PlainPng {
 public:
  const std::uint8_t* decode(std::span<const std::byte> file) {
    left_ = file;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, refuse, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_read_fn(png, this, [](png_structp from, png_bytep to, png_size_t bytes) {
      auto& left = static_cast<PlainPng*>(png_get_io_ptr(from))->left_;
      std::memcpy(to, left.data(), bytes);
      left = left.subspan(bytes);
    });
    png_read_info(png, info);
    const std::size_t row = png_get_rowbytes(png, info), rows = png_get_image_height(png, info);
    pixels_.resize(row * rows);
    for (std::size_t y = 0; y < rows; ++y) png_read_row(png, pixels_.data() + y * row, nullptr);
    png_read_end(png, nullptr);
    png_destroy_read_struct(&png, &info, nullptr);
    return pixels_.data();
  }

 private:
  std::span<const std::byte> left_;
  std::vector<std::uint8_t> pixels_;
};

Row against_libpng(const RowSpec& spec, const Settings& settings, const Files& files, const PngOptions& options) {
  PlainPng plain;
  Row row = decoder_beside(spec, settings, files, *png_decoder(options),
                           [&](std::span<const std::byte> file) { return plain.decode(file); });
  note_decoders_beside(row, settings, "pixels", files, ".png");
  return row;
}

Row encode_against_libpng(const RowSpec& spec, const Settings& settings, const std::vector<Picture>& pictures) {
  struct File final : EncodedFile {
    void append(std::span<const std::byte> more) override { bytes.insert(bytes.end(), more.begin(), more.end()); }
    std::vector<std::byte> bytes;
  };
  const auto encoder = png_encoder();
  RawScratch scratch;
  File file;
  std::size_t ours = 0, limit = 0;  // bytes of all files
  const auto timed = [&](std::size_t& bytes, auto&& encode) {
    bytes = 0;
    const Stopwatch watch;
    for (const Picture& picture : pictures) bytes += encode(picture);
    return Timing{static_cast<double>(pictures.size()) / watch.wall_s(), watch.cpu_s()};
  };
  Row row = compare(
      spec, settings,
      [&] {
        return timed(ours, [&](const Picture& picture) {
          scratch.reset();
          file.bytes.clear();
          const auto stride = static_cast<std::ptrdiff_t>(picture.size.width) * picture.channels;
          const ImageShape shape{picture.size.height, picture.size.width, picture.channels};
          encoder->encode({picture.pixels.data(), stride, shape}, file, scratch);
          return file.bytes.size();
        });
      },
      [&] { return timed(limit, [&](const Picture& picture) { return without_palette(picture).size(); }); });
  row.notes.push_back(std::to_string(pictures.size()) + " files, " + std::to_string(ours / pictures.size()) +
                      " bytes each; " + std::to_string(limit / pictures.size()) + " by libpng");
  note_decoders_beside(row, settings, "encode", encoded_all(pictures, without_palette), ".png");
  return row;
}

// Regions of eight classes with round borders, as people draw them.
std::vector<Picture> masks(const Settings& settings) {
  constexpr std::int32_t side = 1024;
  std::vector<Picture> all;
  for (std::int32_t i = 0; i < (settings.quick ? 2 : 20); ++i) {
    std::vector<std::uint8_t> mask;
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x) {
        int owner = 0;
        for (std::int32_t region = 1; region < 8; ++region) {
          const std::int32_t dy = y - (region * 331 + i * 97) % side, dx = x - (region * 577 + i * 211) % side;
          if (dy * dy + dx * dx < (60 + 20 * region) * (60 + 20 * region)) owner = region;
        }
        mask.push_back(static_cast<std::uint8_t>(owner));
      }
    all.push_back({std::move(mask), {side, side}, 1});
  }
  return all;
}

}  // namespace

Row png_photo(const RowSpec& spec, const Settings& settings) {
  return against_libpng(spec, settings, encoded_all(photographs(settings, picture_size), without_palette), {});
}

Row png_tile(const RowSpec& spec, const Settings& settings) {
  return against_libpng(spec, settings, encoded_all(photographs(settings, {256, 256}), without_palette), {});
}

Row png_mask(const RowSpec& spec, const Settings& settings) {
  return against_libpng(spec, settings, encoded_all(masks(settings), with_palette), {.color = PngOptions::labels});
}

Row png_encode(const RowSpec& spec, const Settings& settings) {
  return encode_against_libpng(spec, settings, photographs(settings, picture_size));
}

Row png_encode_mask(const RowSpec& spec, const Settings& settings) {
  return encode_against_libpng(spec, settings, masks(settings));
}

}  // namespace penstock::bench
