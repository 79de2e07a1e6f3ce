// SPDX-License-Identifier: Apache-2.0
// What a resolution level less saves, and what it changes: means of pixels, of which masks of tissue are made.
#include <openjpeg.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "../data.hpp"
#include "../plain_jpeg2000.hpp"
#include "../plain_slide.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr std::int32_t tile_side = 256, means_side = 32;

// Means of squares, as many as a tile has of 8 x 8 pixels.
std::vector<double> means_of(const std::vector<std::byte>& pixels, std::int32_t side_of_pixels) {
  const std::int32_t k = side_of_pixels / means_side;
  std::vector<double> means(std::size_t{means_side} * means_side * 3);
  for (std::int32_t y = 0; y < side_of_pixels; ++y)
    for (std::int32_t x = 0; x < side_of_pixels; ++x)
      for (std::int32_t c = 0; c < 3; ++c)
        means[static_cast<std::size_t>((y / k * means_side + x / k) * 3 + c)] +=
            std::to_integer<int>(pixels[static_cast<std::size_t>((y * side_of_pixels + x) * 3 + c)]) /
            static_cast<double>(k * k);
  return means;
}

}  // namespace

Row jp2k_level_less(const RowSpec& spec, const Settings& settings) {
  const Store store = jpeg2000_slide(settings);
  const PlainSlide slide(store.folder / "slide.svs");
  const std::int64_t tiles = std::min<std::int64_t>(slide.columns() * slide.rows(), settings.quick ? 8 : 400);
  std::vector<std::byte> buffer, pixels(std::size_t{tile_side} * tile_side * 3), small(pixels.size() / 4);
  double total = 0, most = 0;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const auto stream = slide.read(tile, buffer);
    decode_plain_jpeg2000(stream, tile_side, pixels.data());
    decode_plain_jpeg2000(stream, tile_side, small.data(), 1);
    const std::vector<double> full = means_of(pixels, tile_side), less = means_of(small, tile_side / 2);
    for (std::size_t i = 0; i < full.size(); ++i) {
      total += std::abs(full[i] - less[i]) / static_cast<double>(full.size());
      most = std::max(most, std::abs(full[i] - less[i]));
    }
  }
  const auto timed = [&](std::uint32_t left_out) {
    const Stopwatch watch;
    for (std::int64_t tile = 0; tile < tiles; ++tile)
      decode_plain_jpeg2000(slide.read(tile, buffer), tile_side, pixels.data(), left_out);
    return Timing{static_cast<double>(tiles) / watch.wall_s(), watch.cpu_s()};
  };
  Row row = compare(
      spec, settings, [&] { return timed(1); }, [&] { return timed(0); });
  row.notes.push_back(fmt::format("{}; OpenJPEG {}; means of 8 x 8 pixels differ by {:.2f}, at most by {:.1f}",
                                  store.description, opj_version(), total / static_cast<double>(tiles), most));
  return row;
}

}  // namespace penstock::bench
