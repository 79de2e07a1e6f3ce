// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/png/whole/rule.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <libdeflate.h>
#include <zlib.h>

#include <penstock/error.hpp>

#include "codec/png/by_libpng.hpp"
#include "codec/png/whole_image.hpp"
#include "support/test_images.hpp"

namespace penstock_test {

using namespace penstock;

namespace {

using Bytes = std::vector<std::byte>;

// Whether zlib says this of codes that it refuses, and libdeflate may take.
bool is_about_codes(std::string_view what) {
  for (const std::string_view text :
       {"invalid bit length repeat", "invalid code lengths set", "invalid literal/lengths set", "invalid distances set",
        "too many length or distance symbols", "invalid literal/length code", "invalid distance code"})
    if (what.find(text) != what.npos) return true;
  return false;
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return number;
}

// The file with the same pixels, compressed by zlib. Nothing if the sum of the pixels is not the stream's.
std::optional<Bytes> compressed_anew(std::span<const std::byte> file, const png::Header& header) {
  Bytes stream(static_cast<std::size_t>(header.bytes)), raw(std::size_t{1} << 20);
  png::join_pixels(file, header, stream.data());
  std::size_t length = 0;
  libdeflate_decompressor* const inflater = libdeflate_alloc_decompressor();
  // Without the stream's beginning of two bytes, and its sum.
  const auto result =
      libdeflate_deflate_decompress(inflater, stream.data() + 2, stream.size() - 6, raw.data(), raw.size(), &length);
  libdeflate_free_decompressor(inflater);
  const auto* const bytes = reinterpret_cast<const Bytef*>(raw.data());
  if (result != LIBDEFLATE_SUCCESS ||
      ::adler32(::adler32(0, nullptr, 0), bytes, static_cast<uInt>(length)) != number_at(stream, stream.size() - 4))
    return std::nullopt;
  uLongf room = ::compressBound(length);
  Bytes chunk(8 + room);
  ::compress(reinterpret_cast<Bytef*>(chunk.data() + 8), &room, bytes, length);
  chunk.resize(8 + room);
  const auto put = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) chunk[at + i] = static_cast<std::byte>(number >> (24 - 8 * i));
  };
  put(0, static_cast<std::uint32_t>(room));
  for (std::size_t i = 0; i < 4; ++i) chunk[4 + i] = static_cast<std::byte>("IDAT"[i]);
  chunk.resize(chunk.size() + 4);
  put(chunk.size() - 4, libdeflate_crc32(0, chunk.data() + 4, chunk.size() - 8));
  std::size_t end = header.pixels_at - 8;  // of the last chunk of pixels
  for (std::uint64_t left = header.bytes; left > 0;) {
    const std::uint32_t bytes_of_chunk = number_at(file, end);
    left -= bytes_of_chunk;
    end += 12 + bytes_of_chunk;
  }
  Bytes anew(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header.pixels_at - 8));
  anew.insert(anew.end(), chunk.begin(), chunk.end());
  anew.insert(anew.end(), file.begin() + static_cast<std::ptrdiff_t>(end), file.end());
  return anew;
}

}  // namespace

PngOutcome check_png_rule(std::span<const std::byte> file, const PngOptions& options, Box box, bool verify,
                          std::string& what) {
  std::optional<png::Layout> layout;
  try {
    layout.emplace(png::check_chunks(file), options);
  } catch (const Error&) {
    return PngOutcome::refused;
  }
  const ImageShape shape = layout->shape();
  box.top = std::min(box.top, shape.height - 1), box.left = std::min(box.left, shape.width - 1);
  box.height = std::min(box.height, shape.height - box.top), box.width = std::min(box.width, shape.width - box.left);
  const std::size_t bytes =
      static_cast<std::size_t>(box.height) * static_cast<std::size_t>(box.width) * shape.pixel_bytes();
  // A little more, which must stay as it is.
  constexpr std::size_t guard = 64;
  std::vector<std::uint8_t> at_once(bytes + guard, 0xa5), by_libpng(bytes + guard, 0xa5);
  TestScratch scratch;
  png::WholeImage image;
  if (!image.decode(file, *layout, box, verify, at_once.data(), scratch)) return PngOutcome::handed_over;
  PngOutcome outcome = PngOutcome::same;
  try {
    png::decode_by_libpng(file, *layout, box, verify, by_libpng.data(), scratch);
  } catch (const Error& error) {
    what = error.what();
    if (!is_about_codes(what)) return PngOutcome::broken;
    const std::optional<Bytes> anew = compressed_anew(file, layout->header());
    if (!anew) return PngOutcome::broken;
    const png::Layout layout_anew(png::check_chunks(*anew), options);
    png::decode_by_libpng(*anew, layout_anew, box, verify, by_libpng.data(), scratch);
    outcome = PngOutcome::zlib_is_strict;
  }
  if (at_once == by_libpng) return outcome;
  const auto differs = std::ranges::mismatch(at_once, by_libpng);
  what = "other pixels from byte " + std::to_string(differs.in1 - at_once.begin()) + " on, of " +
         std::to_string(bytes) + ", colour type " + std::to_string(layout->header().color) + ", depth " +
         std::to_string(layout->header().depth) + (layout->header().interlaced ? ", interlaced" : "");
  what += ": " + std::to_string(*differs.in1) + ", by libpng " + std::to_string(*differs.in2);
  return PngOutcome::broken;
}

}  // namespace penstock_test
