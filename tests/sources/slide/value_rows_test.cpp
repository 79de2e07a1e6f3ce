// SPDX-License-Identifier: Apache-2.0
// The kernels for rows of values make the same bytes with every instruction set as plain formulas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pixels/values/rgb_row.hpp"
#include "pixels/values/row_sums.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock::slide;
using namespace penstock_test;

namespace {

using Row = std::vector<std::byte>;
using Colors = StoredValues::Colors;
using Alpha = StoredValues::Alpha;

Row random_row(std::size_t bytes, Numbers& numbers) {
  Row row(bytes);
  for (std::byte& byte : row) byte = static_cast<std::byte>(numbers.next());
  return row;
}

unsigned value_of(const Row& row, std::size_t i, std::size_t value_bytes) {
  std::uint16_t value = 0;
  if (value_bytes == 1) return std::to_integer<unsigned>(row[i]);
  std::memcpy(&value, row.data() + 2 * i, sizeof value);
  return value;
}

// A pixel's colour over white.
unsigned over_white(unsigned value, unsigned alpha, Alpha kind) {
  if (kind == Alpha::none) return value;
  return std::min((kind == Alpha::apart ? (value * alpha + 127) / 255 : value) + 255 - alpha, 255u);
}

}  // namespace

TEST_CASE("rows of differences are summed with every instruction set") {
  on_every_target([] {
    Numbers numbers(4);
    for (const std::size_t value_bytes : {1u, 2u})
      for (const std::size_t samples : {1u, 2u, 3u, 4u})
        for (std::size_t pixels = 1; pixels < 70; ++pixels) {
          const std::size_t bytes = pixels * samples * value_bytes;
          const Row stored = random_row(bytes + 16, numbers);
          Row summed = stored;
          sum_row(summed.data(), pixels, samples, value_bytes);
          CAPTURE(value_bytes, samples, pixels);
          std::vector<unsigned> sums(samples);
          for (std::size_t i = 0; i < pixels * samples; ++i) {
            unsigned& sum = sums[i % samples];
            sum = (sum + value_of(stored, i, value_bytes)) & (value_bytes == 1 ? 0xffu : 0xffffu);
            REQUIRE(value_of(summed, i, value_bytes) == sum);
          }
          // What follows the row stays as it was.
          REQUIRE(std::equal(summed.begin() + static_cast<std::ptrdiff_t>(bytes), summed.end(),
                             stored.begin() + static_cast<std::ptrdiff_t>(bytes)));
        }
  });
}

TEST_CASE("all values of 16 bits become the nearest of 8 bits, or their high bytes") {
  on_every_target([] {
    for (const Colors colors : {Colors::rgb, Colors::black_is_zero, Colors::white_is_zero}) {
      Row row(2 * 65536);
      for (std::size_t i = 0; i < 65536; ++i) {
        const auto value = static_cast<std::uint16_t>(i);
        std::memcpy(row.data() + 2 * i, &value, sizeof value);
      }
      // In two parts, so that the end of a row is checked too.
      narrow_row(row.data(), 41, colors);
      Row rest(row.begin() + 82, row.end());
      narrow_row(rest.data(), 65536 - 41, colors);
      for (std::size_t i = 0; i < 65536; ++i) {
        const std::byte made = i < 41 ? row[i] : rest[i - 41];
        if (std::to_integer<std::size_t>(made) != (colors == Colors::rgb ? (i + 128) / 257 : i >> 8)) {
          CAPTURE(i, std::to_integer<int>(made));
          FAIL();
        }
      }
    }
  });
}

TEST_CASE("rows of values become RGB over white with every instruction set") {
  on_every_target([] {
    Numbers numbers(7);
    const Row palette = random_row(768, numbers);
    for (const Colors colors : {Colors::rgb, Colors::black_is_zero, Colors::white_is_zero, Colors::palette})
      for (const std::size_t extra : {0u, 1u})
        for (const Alpha alpha : {Alpha::none, Alpha::multiplied, Alpha::apart}) {
          if ((extra == 0 && alpha != Alpha::none) || (extra == 1 && colors == Colors::palette)) continue;
          StoredValues stored{.colors = colors, .alpha = alpha};
          stored.samples = static_cast<std::uint8_t>((colors == Colors::rgb ? 3u : 1u) + extra);
          // The last has all pairs of a value and an alpha.
          for (const std::size_t pixels : {1u, 15u, 16u, 17u, 63u, 65u, 100u, 131u, 65536u}) {
            Row row = random_row(pixels * stored.samples, numbers), rgb(3 * pixels + 1, std::byte{0xee});
            for (std::size_t i = 0; pixels == 65536 && i < pixels; ++i) {
              row[i * stored.samples] = static_cast<std::byte>(i);
              if (extra != 0) row[(i + 1) * stored.samples - 1] = static_cast<std::byte>(i >> 8);
            }
            write_rgb_row(stored, palette, row.data(), pixels, rgb.data());
            CAPTURE(static_cast<int>(colors), static_cast<int>(alpha), extra, pixels);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < 3 * pixels; ++i) {
              const std::size_t first = i / 3 * stored.samples, c = i % 3;
              unsigned value = value_of(row, colors == Colors::rgb ? first + c : first, 1);
              if (colors == Colors::white_is_zero) value = 255 - value;
              if (colors == Colors::palette) value = value_of(palette, 3 * value + c, 1);
              if (value_of(rgb, i, 1) != over_white(value, value_of(row, first + stored.samples - 1, 1), alpha))
                ++wrong;
            }
            REQUIRE(wrong == 0);
            REQUIRE(rgb.back() == std::byte{0xee});
          }
        }
  });
}

}  // namespace PENSTOCK_TEST_FILE
