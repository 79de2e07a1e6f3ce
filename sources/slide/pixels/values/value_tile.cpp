// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/value_tile.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "pixels/values/rgb_row.hpp"
#include "pixels/values/row_sums.hpp"

namespace penstock::slide {

namespace {

void swap_bytes(std::byte* row, std::size_t values) noexcept {
  for (std::size_t i = 0; i < values; ++i) {
    std::uint16_t value;
    std::memcpy(&value, row + 2 * i, sizeof value);
    value = static_cast<std::uint16_t>(value << 8 | value >> 8);
    std::memcpy(row + 2 * i, &value, sizeof value);
  }
}

// Makes a row of one plane what its writer began with, as values of 8 bits.
void restore_row(const Level& level, std::byte* row, std::size_t pixels, std::size_t samples) noexcept {
  const StoredValues& values = level.values;
  const std::size_t count = pixels * samples;
  if (values.value_bytes == 2 && level.big_endian != (std::endian::native == std::endian::big)) swap_bytes(row, count);
  if (values.differences) sum_row(row, pixels, samples, values.value_bytes);
  if (values.value_bytes == 2) narrow_row(row, count, values.colors);
}

// Puts the values of a pixel side by side.
void interleave(std::span<std::byte* const> planes, std::size_t pixels, std::byte* out) noexcept {
  for (std::size_t p = 0; p < planes.size(); ++p)
    for (std::size_t i = 0; i < pixels; ++i) out[i * planes.size() + p] = planes[p][i];
}

// Returns whether the values of a tile are the pixels that are asked for, and can be decompressed into their place.
bool is_in_place(const Level& level, const Box& box, std::ptrdiff_t stride) noexcept {
  const StoredValues& values = level.values;
  return values.is_plain_rgb() && values.value_bytes == 1 && !values.planes && box.height == level.tile_height &&
         box.width == level.tile_width && stride == static_cast<std::ptrdiff_t>(level.plane_row_bytes());
}

}  // namespace

std::size_t value_tile_memory(const Level& level, const Box& box, std::ptrdiff_t stride) noexcept {
  const bool needs_planes = level.codec != SlideCodec::uncompressed && !is_in_place(level, box, stride);
  const std::size_t planes = needs_planes ? level.values.planes_read() : 0;
  return planes * level.plane_bytes() + level.plane_row_bytes() * StoredValues::most_samples;
}

void decode_value_tile(const Level& level, std::span<const std::span<std::byte>> stored, Decompressor& decompressor,
                       const Box& box, bool verify, std::byte* into, std::ptrdiff_t stride, std::byte* memory) {
  const StoredValues& values = level.values;
  const std::size_t row_bytes = level.plane_row_bytes();
  const auto width = static_cast<std::size_t>(box.width), height = static_cast<std::size_t>(box.height);
  const auto left = static_cast<std::size_t>(box.left), top = static_cast<std::size_t>(box.top);
  const bool in_place = is_in_place(level, box, stride);
  std::array<std::byte*, StoredValues::most_samples> rows{};  // of each plane, the first that `box` needs
  for (std::size_t p = 0; p < stored.size(); ++p) {
    if (level.codec == SlideCodec::uncompressed) {
      rows[p] = stored[p].data();
      continue;
    }
    // The other codecs have to be decoded to the end in any case.
    const bool stops = !verify && (level.codec == SlideCodec::lzw || level.codec == SlideCodec::packbits);
    std::byte* const plane = in_place ? into : memory;
    decompressor.run(level.codec, stored[p], {plane, stops ? (top + height) * row_bytes : level.plane_bytes()});
    rows[p] = plane + top * row_bytes;
    if (!in_place) memory += level.plane_bytes();
  }
  StoredValues read = values;
  if (values.planes) read.samples = static_cast<std::uint8_t>(stored.size());
  const std::size_t samples = values.planes ? 1 : values.samples;
  const std::span planes = std::span(rows).first(stored.size());
  for (std::size_t y = 0; y < height; ++y, into += stride) {
    for (std::byte*& row : planes) restore_row(level, row, left + width, samples);
    const std::byte* pixels = planes[0];
    if (stored.size() > 1) {
      interleave(planes, left + width, memory);
      pixels = memory;
    }
    if (!in_place || pixels != into) write_rgb_row(read, level.tables, pixels + left * read.samples, width, into);
    for (std::byte*& row : planes) row += row_bytes;
  }
}

}  // namespace penstock::slide
