// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/png/png_files.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include <zlib.h>

#include "support/catch.hpp"

namespace penstock_test {

using penstock::PngOptions;

namespace {

void put(std::vector<std::uint8_t>& out, std::uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(n >> shift));
}

int paeth(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// One image, or one pass of it: rows with a filter byte each.
std::vector<std::uint8_t> filtered(const std::vector<std::uint8_t>& rows, std::size_t row_bytes, std::size_t pixel,
                                   Numbers& numbers) {
  std::vector<std::uint8_t> out;
  for (std::size_t first = 0; first < rows.size(); first += row_bytes) {
    const int filter = numbers.below(5);
    out.push_back(static_cast<std::uint8_t>(filter));
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const int left = i >= pixel ? rows[first + i - pixel] : 0, up = first > 0 ? rows[first - row_bytes + i] : 0,
                corner = i >= pixel && first > 0 ? rows[first - row_bytes + i - pixel] : 0;
      const std::array<int, 5> guess{0, left, up, (left + up) / 2, paeth(left, up, corner)};
      out.push_back(static_cast<std::uint8_t>(rows[first + i] - guess[static_cast<std::size_t>(filter)]));
    }
  }
  return out;
}

}  // namespace

std::vector<PngKind> png_kinds() {
  std::vector<PngKind> kinds;
  for (const bool interlaced : {false, true})
    for (const bool transparency : {false, true}) {
      for (const int depth : {1, 2, 4, 8, 16}) kinds.push_back({0, depth, interlaced, transparency});
      for (const int depth : {1, 2, 4, 8}) kinds.push_back({3, depth, interlaced, transparency});
      for (const int depth : {8, 16}) kinds.push_back({2, depth, interlaced, transparency});
      if (transparency) continue;
      for (const int depth : {8, 16})
        for (const int color : {4, 6}) kinds.push_back({color, depth, interlaced, false});
    }
  return kinds;
}

PngFile::PngFile(const PngKind& kind, penstock::Size size, std::uint64_t seed)
    : kind_(kind),
      size_(size),
      samples_(kind.color == 2   ? 3
               : kind.color == 4 ? 2
               : kind.color == 6 ? 4
                                 : 1),
      seed_(seed) {
  Numbers numbers(seed + 1000);
  // A palette may have fewer entries than the depth has values.
  const int most = 1 << kind.depth, entries = kind.color == 3 ? std::max(1, most - numbers.below(2)) : most;
  values_.resize(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width * samples_));
  for (std::uint32_t& value : values_) value = static_cast<std::uint32_t>(numbers.below(entries));

  chunks.push_back({"IHDR", {}});
  put(chunks[0].data, static_cast<std::uint32_t>(size.width));
  put(chunks[0].data, static_cast<std::uint32_t>(size.height));
  for (const int byte : {kind.depth, kind.color, 0, 0, kind.interlaced ? 1 : 0})
    chunks[0].data.push_back(static_cast<std::uint8_t>(byte));
  chunks.push_back({"tEXt", {'a', 0, 'b'}});
  if (kind.color == 3) {
    for (int i = 0; i < 3 * entries; ++i) palette_.push_back(static_cast<std::uint8_t>(numbers.next()));
    chunks.push_back({"PLTE", palette_});
  }
  if (kind.transparency && kind.color == 3) {
    for (int i = 0; i < std::max(1, entries / 2); ++i) opacity_.push_back(static_cast<std::uint8_t>(numbers.next()));
    chunks.push_back({"tRNS", opacity_});
  } else if (kind.transparency) {
    // That of a pixel, so that there is one.
    chunks.push_back({"tRNS", {}});
    for (int c = 0; c < samples_; ++c) {
      transparent_.push_back(sample(size.height / 2, size.width / 2, c));
      chunks.back().data.push_back(static_cast<std::uint8_t>(transparent_.back() >> 8));
      chunks.back().data.push_back(static_cast<std::uint8_t>(transparent_.back()));
    }
  }

  std::vector<std::uint8_t> raw;
  const auto add = [&](std::int32_t top, std::int32_t left, std::int32_t step_y, std::int32_t step_x) {
    const std::int32_t width = (size.width - left + step_x - 1) / step_x;
    if (left >= size.width || top >= size.height) return;
    const auto bits = static_cast<std::size_t>(width * samples_ * kind.depth);
    const std::vector<std::uint8_t> pass =
        filtered(packed(top, left, step_y, step_x), (bits + 7) / 8,
                 static_cast<std::size_t>(std::max(1, samples_ * kind.depth / 8)), numbers);
    raw.insert(raw.end(), pass.begin(), pass.end());
  };
  if (kind.interlaced) {
    constexpr int passes[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                  {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
    for (const auto& p : passes) add(p[0], p[1], p[2], p[3]);
  } else {
    add(0, 0, 1, 1);
  }
  std::vector<std::uint8_t> packed_bytes(compressBound(raw.size()));
  uLongf length = packed_bytes.size();
  REQUIRE(compress(packed_bytes.data(), &length, raw.data(), raw.size()) == Z_OK);
  packed_bytes.resize(length);
  // In several chunks, of which one is empty.
  const auto third = static_cast<std::ptrdiff_t>(length / 3);
  chunks.push_back({"IDAT", {packed_bytes.begin(), packed_bytes.begin() + third}});
  chunks.push_back({"IDAT", {}});
  chunks.push_back({"IDAT", {packed_bytes.begin() + third, packed_bytes.end()}});
  chunks.push_back({"tIME", {1, 2, 3, 4, 5, 6, 7}});
  chunks.push_back({"IEND", {}});
}

std::uint32_t PngFile::sample(std::int32_t y, std::int32_t x, int c) const {
  return values_[static_cast<std::size_t>((y * size_.width + x) * samples_ + c)];
}

std::vector<std::uint8_t> PngFile::packed(std::int32_t top, std::int32_t left, std::int32_t step_y,
                                          std::int32_t step_x) const {
  std::vector<std::uint8_t> rows;
  for (std::int32_t y = top; y < size_.height; y += step_y) {
    int room = 0;
    for (std::int32_t x = left; x < size_.width; x += step_x)
      for (int c = 0; c < samples_; ++c) {
        if (kind_.depth == 16) rows.push_back(static_cast<std::uint8_t>(sample(y, x, c) >> 8));
        if (kind_.depth >= 8) {
          rows.push_back(static_cast<std::uint8_t>(sample(y, x, c)));
          continue;
        }
        if (room == 0) rows.push_back(0), room = 8;
        room -= kind_.depth;
        rows.back() = static_cast<std::uint8_t>(rows.back() | sample(y, x, c) << room);
      }
  }
  return rows;
}

Bytes PngFile::bytes() const {
  std::vector<std::uint8_t> out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  for (const Chunk& chunk : chunks) {
    put(out, static_cast<std::uint32_t>(chunk.data.size()));
    const std::size_t first = out.size();
    out.insert(out.end(), chunk.type.begin(), chunk.type.end());
    out.insert(out.end(), chunk.data.begin(), chunk.data.end());
    put(out, static_cast<std::uint32_t>(crc32(0, out.data() + first, static_cast<uInt>(out.size() - first))));
  }
  Bytes bytes(out.size());
  std::ranges::transform(out, bytes.begin(), [](std::uint8_t b) { return std::byte{b}; });
  return bytes;
}

Image PngFile::expected(PngOptions::Color color, penstock::DType dtype) const {
  const bool colored = kind_.color == 2 || kind_.color == 3 || kind_.color == 6;
  const bool opaque = kind_.color != 4 && kind_.color != 6 && !kind_.transparency;
  const bool wide = dtype == penstock::DType::u16;
  const int channels = color == PngOptions::rgb         ? 3
                       : color == PngOptions::rgba      ? 4
                       : color == PngOptions::as_stored ? (colored ? 3 : 1) + (opaque ? 0 : 1)
                                                        : 1;
  Image image({size_.height, size_.width, channels, dtype});
  const auto put = [&](std::int32_t y, std::int32_t x, int c, std::uint32_t value) {
    const auto at = static_cast<std::size_t>((y * size_.width + x) * channels + c);
    if (wide) {
      const auto number = static_cast<std::uint16_t>(value);
      std::memcpy(image.pixels.data() + 2 * at, &number, 2);
    } else {
      image.pixels[at] = static_cast<std::uint8_t>(value);
    }
  };
  const auto widened = [&](std::uint32_t v) { return wide ? v * 257 : v; };
  const auto level = [&](std::uint32_t v) {
    if (kind_.depth == 16) return wide ? v : v / 256;
    return widened(v * 255 / ((1u << kind_.depth) - 1));
  };
  for (std::int32_t y = 0; y < size_.height; ++y)
    for (std::int32_t x = 0; x < size_.width; ++x) {
      const std::uint32_t first = sample(y, x, 0);
      if (color == PngOptions::labels) {
        put(y, x, 0, first);
        continue;
      }
      std::array<std::uint32_t, 3> rgb{};
      std::uint32_t alpha = widened(255);
      bool is_transparent = !transparent_.empty();
      for (int c = 0; c < 3; ++c) {
        const int from = samples_ >= 3 ? c : 0;
        rgb[static_cast<std::size_t>(c)] =
            kind_.color == 3 ? widened(palette_[3 * first + static_cast<std::uint32_t>(c)]) : level(sample(y, x, from));
        if (!transparent_.empty())
          is_transparent = is_transparent && sample(y, x, from) == transparent_[static_cast<std::size_t>(from)];
      }
      if (is_transparent) alpha = 0;
      if (kind_.color == 3 && first < opacity_.size()) alpha = widened(opacity_[first]);
      if (kind_.color == 4) alpha = level(sample(y, x, 1));
      if (kind_.color == 6) alpha = level(sample(y, x, 3));
      if (color == PngOptions::gray) {
        const std::uint64_t sum = std::uint64_t{19595} * rgb[0] + 38470ull * rgb[1] + 7471ull * rgb[2] + 32768;
        put(y, x, 0, colored ? static_cast<std::uint32_t>(sum / 65536) : rgb[0]);
        continue;
      }
      const int colors = channels >= 3 ? 3 : 1;
      for (int c = 0; c < colors; ++c) put(y, x, c, rgb[static_cast<std::size_t>(c)]);
      if (channels > colors) put(y, x, colors, alpha);
    }
  return image;
}

}  // namespace penstock_test
