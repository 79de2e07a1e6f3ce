// SPDX-License-Identifier: Apache-2.0
// The filters' kernels make the same bytes with every instruction set as the specification's formulas.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/png/filters.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock::png;
using namespace penstock_test;

namespace {

using Row = std::vector<std::uint8_t>;

// PNG specification, 9.2 and 9.4.
std::uint8_t predicted(Filter filter, int left, int up, int corner) {
  const int p = left + up - corner;
  const int to_left = std::abs(p - left), to_up = std::abs(p - up), to_corner = std::abs(p - corner);
  switch (filter) {
    case sub_filter:
      return static_cast<std::uint8_t>(left);
    case up_filter:
      return static_cast<std::uint8_t>(up);
    case average_filter:
      return static_cast<std::uint8_t>((left + up) / 2);
    case paeth_filter:
      if (to_left <= to_up && to_left <= to_corner) return static_cast<std::uint8_t>(left);
      return static_cast<std::uint8_t>(to_up <= to_corner ? up : corner);
    default:
      return 0;
  }
}

Row undone(Filter filter, std::size_t pixel, const Row& stored, const Row& above) {
  Row out(stored.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(
        stored[i] + predicted(filter, i < pixel ? 0 : out[i - pixel], above[i], i < pixel ? 0 : above[i - pixel]));
  return out;
}

Row undone_by_kernel(Filter filter, std::size_t pixel, Row stored, Row above) {
  const std::size_t bytes = stored.size();
  // What follows a row must not matter.
  stored.resize(bytes + filter_margin, 0x5a);
  above.resize(bytes + filter_margin, 0xc3);
  Row out(bytes + filter_margin, 0xee);
  undo_filter(filter, pixel, stored.data(), above.data(), bytes, out.data());
  out.resize(bytes);
  return out;
}

}  // namespace

TEST_CASE("filters are undone as the specification says, with every instruction set") {
  on_every_target([] {
    Numbers numbers(4);
    for (const std::size_t pixel : {1, 2, 3, 4, 6, 8})
      for (const Filter filter : {no_filter, sub_filter, up_filter, average_filter, paeth_filter})
        for (int width = 1; width < 90; ++width) {
          Row stored(static_cast<std::size_t>(width) * pixel), above(stored.size());
          for (std::uint8_t& byte : stored) byte = static_cast<std::uint8_t>(numbers.next());
          for (std::uint8_t& byte : above) byte = static_cast<std::uint8_t>(numbers.next());
          CAPTURE(pixel, int{filter}, width);
          REQUIRE(undone_by_kernel(filter, pixel, stored, above) == undone(filter, pixel, stored, above));
        }
  });
}

TEST_CASE("Paeth's and the average's predictions are right for all neighbours") {
  on_every_target([] {
    // Rows of pairs of pixels: the first has the values of left and corner, the second those of up.
    for (int left = 0; left < 256; ++left)
      for (int up = 0; up < 256; up += 5) {
        Row stored, above, expected;
        for (int corner = 0; corner < 256; corner += 3) {
          // Undone as sums: a byte's own prediction is taken into account.
          Row pair_above{static_cast<std::uint8_t>(corner), static_cast<std::uint8_t>(up)};
          for (const Filter filter : {average_filter, paeth_filter}) {
            Row pair{static_cast<std::uint8_t>(left - predicted(filter, 0, corner, 0)), 0};
            const Row out = undone_by_kernel(filter, 1, pair, pair_above);
            if (out[0] != left || out[1] != predicted(filter, left, up, corner)) {
              CAPTURE(left, up, corner, int{filter}, int{out[0]}, int{out[1]});
              FAIL("another prediction");
            }
          }
        }
      }
  });
}

}  // namespace PENSTOCK_TEST_FILE
