// SPDX-License-Identifier: Apache-2.0
// The encoder's kernels make the same bytes and choices with every instruction set as the specification's formulas.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "codec/png/apply_filter.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/png/encode/plain_encoder.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock::png;
using namespace penstock_test;

namespace {

// A row with zeros before it. What follows must not matter.
Row with_margins(const Row& row, std::uint8_t after) {
  Row all(apply_margin);
  all.insert(all.end(), row.begin(), row.end());
  all.insert(all.end(), apply_margin, after);
  return all;
}

void check_row(std::size_t pixel, const Row& row, const Row& above) {
  const Row here = with_margins(row, 0x5a), up = with_margins(above, 0xc3);
  const std::uint8_t *const from = here.data() + apply_margin, *const before = up.data() + apply_margin;
  for (const Filter filter : {no_filter, sub_filter, up_filter, average_filter, paeth_filter}) {
    Row out(row.size() + apply_margin, 0xee);
    apply_filter(filter, pixel, from, before, row.size(), out.data());
    out.resize(row.size());
    CAPTURE(pixel, row.size(), int{filter});
    REQUIRE(out == filtered(filter, pixel, row, above));
  }
  CAPTURE(pixel, row.size());
  REQUIRE(least_filter(pixel, from, before, row.size()) == penstock_test::least_filter(pixel, row, above));
}

}  // namespace

TEST_CASE("filters are applied and chosen as the specification says, with every instruction set") {
  on_every_target([] {
    Numbers numbers(4);
    int chosen[filters] = {};
    for (const std::size_t pixel : {1u, 2u, 3u, 4u, 6u, 8u})
      for (int width = 1; width < 90; ++width)
        for (const int most : {256, 40, 3, 1}) {
          // Noise on a slope in each direction: with one of them, each filter is the least.
          const int across = numbers.from(-9, 9), down = numbers.from(-9, 9);
          Row row(static_cast<std::size_t>(width) * pixel), above(row.size());
          for (std::size_t i = 0; i < row.size(); ++i) {
            const int value = static_cast<int>(i / pixel) * across;
            row[i] = static_cast<std::uint8_t>(value + down + numbers.below(most));
            above[i] = static_cast<std::uint8_t>(value + numbers.below(most));
          }
          check_row(pixel, row, above);
          ++chosen[penstock_test::least_filter(pixel, row, above)];
        }
    for (const int times : chosen) CHECK(times > 20);
  });
}

TEST_CASE("sums of the largest differences in long rows do not overflow") {
  on_every_target([] {
    // `sub` makes 128 of all bytes, and `up` of all but one.
    Row row(100'000), above(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<std::uint8_t>((i + 1) % 2 * 128);
      above[i] = static_cast<std::uint8_t>(row[i] + 128);
    }
    check_row(1, row, above);
    above[500] = row[500];
    check_row(1, row, above);
  });
}

TEST_CASE("Paeth's and the average's predictions are applied rightly for all neighbours") {
  on_every_target([] {
    for (int left = 0; left < 256; ++left)
      for (int corner = 0; corner < 256; corner += 3) {
        // Pairs of pixels: the corner and the value that is up, above left and here.
        Row pairs(512), ups(512);
        for (std::size_t up = 0; up < 256; ++up) {
          pairs[2 * up] = static_cast<std::uint8_t>(left), pairs[2 * up + 1] = 7;
          ups[2 * up] = static_cast<std::uint8_t>(corner), ups[2 * up + 1] = static_cast<std::uint8_t>(up);
        }
        const Row here = with_margins(pairs, 0), before = with_margins(ups, 0);
        for (const Filter filter : {average_filter, paeth_filter}) {
          Row out(pairs.size() + apply_margin);
          apply_filter(filter, 1, here.data() + apply_margin, before.data() + apply_margin, pairs.size(), out.data());
          out.resize(pairs.size());
          if (out == filtered(filter, 1, pairs, ups)) continue;
          CAPTURE(left, corner, int{filter});
          FAIL("another prediction");
        }
      }
  });
}

}  // namespace PENSTOCK_TEST_FILE
