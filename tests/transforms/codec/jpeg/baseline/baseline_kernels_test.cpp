// SPDX-License-Identifier: Apache-2.0
// The kernels have the same bits with every instruction set, also of values that no picture has.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "codec/jpeg/baseline/inverse_dct_plain.hpp"
#include "codec/jpeg/baseline/pixel_rows_plain.hpp"
#include "codec/jpeg/baseline/scan_reader.hpp"
#include "codec/jpeg/marker_search.hpp"
#include "core/help.hpp"
#include "support/test_images.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock::jpeg::baseline;
using namespace penstock_test;

namespace {

// Coefficients up to the given one, in zigzag order.
void fill(Block& block, Numbers& numbers, std::int32_t largest) {
  std::memset(&block, 0, sizeof block);
  block.known = static_cast<std::uint32_t>(numbers.from(1, numbers.coin() ? 12 : 64));
  for (std::uint32_t i = 0; i < block.known; ++i)
    if (numbers.below(3) != 0)
      block.coefficients[natural_order.at[i]] = static_cast<std::int16_t>(numbers.from(-largest, largest));
}

struct Transformed {
  std::vector<std::uint8_t> values;
  bool usual;
  bool cleared;
};

Transformed transformed(InverseDct transform, std::vector<Block> blocks, const std::int16_t* quantization) {
  const int count = static_cast<int>(blocks.size());
  Transformed out;
  out.values.assign(static_cast<std::size_t>(count) * 64, 0);
  std::vector<std::uint8_t> from;
  std::vector<std::ptrdiff_t> to;
  for (int i = 0; i < count; ++i) {
    from.push_back(static_cast<std::uint8_t>(count - 1 - i));
    to.push_back(8 * i);
  }
  out.usual = transform({blocks.data(), from.data(), out.values.data(), to.data(), count, 8 * count, quantization});
  out.cleared = std::ranges::all_of(
      blocks, [](const Block& block) { return std::ranges::all_of(block.coefficients, [](int c) { return c == 0; }); });
  return out;
}

}  // namespace

TEST_CASE("the inverse DCTs have the same bits with every instruction set, and find what is beyond libjpeg's") {
  constexpr std::pair<int, InverseDct> sizes[] = {
      {8, inverse_dct_plain}, {4, reduced_dct_4_plain}, {2, reduced_dct_2_plain}};
  on_every_target([&] {
    Numbers numbers(3);
    alignas(64) std::int16_t quantization[64];
    std::uint64_t unusual[3] = {};
    for (std::uint64_t i = 0, end = help::scaled(20'000); i < end; ++i) {
      const std::int32_t largest = numbers.coin() ? 300 : numbers.coin() ? 2047 : 32767;
      std::vector<Block> blocks(static_cast<std::size_t>(numbers.from(1, ScanReader::most_blocks)));
      for (Block& block : blocks) fill(block, numbers, largest);
      for (std::int16_t& q : quantization) q = static_cast<std::int16_t>(numbers.from(1, numbers.coin() ? 20 : 255));
      for (std::size_t k = 0; k < std::size(sizes); ++k) {
        const auto& [size, by_formula] = sizes[k];
        const Transformed plain = transformed(by_formula, blocks, quantization);
        const Transformed found = transformed(inverse_dct(size), blocks, quantization);
        CAPTURE(size);
        REQUIRE(found.usual == plain.usual);
        if (plain.usual) REQUIRE(found.values == plain.values);
        REQUIRE(found.cleared);
        REQUIRE(plain.cleared);
        unusual[k] += plain.usual ? 0 : 1;
      }
    }
    for (const std::uint64_t count : unusual) CHECK(count > 100);
  });
}

TEST_CASE("every colour is the same with every instruction set") {
  constexpr int count = 256;
  std::vector<std::uint8_t> y(count + row_margin), cb(count + row_margin), cr(count + row_margin);
  for (int i = 0; i < count; ++i) y[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  on_every_target([&] {
    const PixelRowKernels rows = pixel_rows(), plain = pixel_rows_plain();
    std::vector<std::uint8_t> found(3 * count), wanted(3 * count);
    bool equal = true;
    const int step = help::sanitized() ? 7 : 1;
    for (int blue = 0; blue < 256; blue += step) {
      std::fill(cb.begin(), cb.end(), static_cast<std::uint8_t>(blue));
      for (int red = 0; red < 256; red += step) {
        std::fill(cr.begin(), cr.end(), static_cast<std::uint8_t>(red));
        rows.ycc(y.data(), cb.data(), cr.data(), {found.data(), 0, count});
        plain.ycc(y.data(), cb.data(), cr.data(), {wanted.data(), 0, count});
        equal = equal && found == wanted;
      }
    }
    CHECK(equal);
  });
}

TEST_CASE("rows of pixels are the same with every instruction set, of any length, and nothing beside them is written") {
  constexpr int longest = 200, beside = 40;
  on_every_target([] {
    Numbers numbers(5);
    const PixelRowKernels rows = pixel_rows(), plain = pixel_rows_plain();
    const std::size_t room = longest + 2 * row_margin;
    for (int count = 1; count <= longest; ++count) {
      for (const int left_out : {0, 1}) {
        std::vector<std::uint8_t> values[3];
        std::vector<std::uint16_t> sums[2][2];
        for (auto& v : values) {
          v.resize(room);
          for (auto& value : v) value = static_cast<std::uint8_t>(numbers.below(256));
        }
        const int chroma = longest / 2 + 2;
        for (int c = 0; c < 2; ++c) {
          sums[0][c].resize(room);
          sums[1][c].resize(room);
          rows.sum_rows(values[c].data(), values[c + 1].data() + 1, chroma, sums[0][c].data());
          plain.sum_rows(values[c].data(), values[c + 1].data() + 1, chroma, sums[1][c].data());
          REQUIRE(std::equal(sums[0][c].begin(), sums[0][c].begin() + chroma, sums[1][c].begin()));
        }
        const auto check = [&](const auto& make) {
          std::vector<std::uint8_t> found(3 * longest + 2 * beside, 0x5a), wanted = found;
          make(rows, PixelRow{found.data() + beside, left_out, count});
          make(plain, PixelRow{wanted.data() + beside, left_out, count});
          REQUIRE(found == wanted);
        };
        const std::uint8_t *a = values[0].data(), *b = values[1].data(), *c = values[2].data();
        check([&](const PixelRowKernels& of, const PixelRow& row) { of.ycc(a, b, c, row); });
        check([&](const PixelRowKernels& of, const PixelRow& row) { of.rgb(a, b, c, row); });
        check([&](const PixelRowKernels& of, const PixelRow& row) { of.gray(a, row); });
        const std::uint16_t *d = sums[1][0].data() + 1, *e = sums[1][1].data() + 1;
        check([&](const PixelRowKernels& of, const PixelRow& row) { of.ycc_half(a, d, e, row); });
        rows.widen(a, chroma, sums[0][0].data());
        plain.widen(a, chroma, sums[1][0].data());
        REQUIRE(std::equal(sums[0][0].begin(), sums[0][0].begin() + chroma, sums[1][0].begin()));
        plain.widen(b, chroma, sums[1][1].data());
        check([&](const PixelRowKernels& of, const PixelRow& row) { of.ycc_half_across(a, d, e, row); });
        std::vector<std::uint8_t> between[2];
        for (auto& v : between) v.assign(room, 0);
        rows.between_rows(a, b, 1 + left_out, count, between[0].data());
        plain.between_rows(a, b, 1 + left_out, count, between[1].data());
        REQUIRE(std::equal(between[0].begin(), between[0].begin() + count, between[1].begin()));
      }
    }
  });
}

TEST_CASE("markers are found with every instruction set, wherever they are, and nothing beyond the data is read") {
  const auto plain = [](std::span<const std::uint8_t> bytes, std::size_t at) {
    while (at < bytes.size() && !(bytes[at] == 0xff && (at + 1 == bytes.size() || bytes[at + 1] != 0))) ++at;
    return at;
  };
  on_every_target([&] {
    Numbers numbers(7);
    for (std::uint64_t i = 0, end = help::scaled(2'000); i < end; ++i) {
      // Bytes lie in memory of their own each time, whose end a sanitizer sees.
      std::vector<std::uint8_t> bytes(static_cast<std::size_t>(numbers.below(300)));
      for (std::size_t k = 0; k < bytes.size(); ++k)
        bytes[k] = numbers.below(8) != 0 ? static_cast<std::uint8_t>(numbers.below(255))
                   : k > 0 && bytes[k - 1] == 0xff && numbers.below(16) != 0 ? 0
                                                                             : 0xff;
      if (numbers.coin())  // data alone, but for one place
        for (std::size_t k = 1; k < bytes.size(); ++k)
          if (bytes[k - 1] == 0xff && numbers.below(40) != 0) bytes[k] = 0;
      for (std::size_t at = 0; at <= bytes.size(); ++at)
        REQUIRE(penstock::jpeg::find_marker(bytes, at) == plain(bytes, at));
    }
  });
}
