// SPDX-License-Identifier: Apache-2.0
// The filters' kernels make the same bytes with every instruction set as the specification's formulas.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "codec/png/filters.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/png/prediction.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock::png;
using namespace penstock_test;

namespace {

using Row = std::vector<std::uint8_t>;

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

void check_together(const std::vector<Filter>& of_rows, std::size_t pixel, std::size_t width, Numbers& numbers) {
  const std::size_t bytes = width * pixel, stride = bytes + 1, each = bytes + filter_margin;
  const auto random = [&](std::size_t count) {
    Row row(count);
    for (std::uint8_t& byte : row) byte = static_cast<std::uint8_t>(numbers.next());
    return row;
  };
  const Row stored = random(of_rows.size() * stride + 2 * filter_margin), above = random(bytes + filter_margin);
  Row out = random(of_rows.size() * each + filter_margin);
  RowsToUndo rows{{}, stored.data() + filter_margin, stride, above.data(), bytes, out.data() + filter_margin, each};
  std::copy(of_rows.begin(), of_rows.end(), rows.filters);
  undo_filters(pixel, rows);
  Row expected_above(above.begin(), above.begin() + static_cast<std::ptrdiff_t>(bytes));
  for (std::size_t row = 0; row < of_rows.size(); ++row) {
    const std::uint8_t* const from = rows.stored + row * stride;
    const std::uint8_t* const made = rows.out + row * each;
    expected_above = undone(of_rows[row], pixel, Row(from, from + bytes), expected_above);
    CAPTURE(pixel, width, row, int{of_rows[row]});
    REQUIRE(Row(made, made + bytes) == expected_above);
  }
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

TEST_CASE("filters of rows are undone together as one after the other, whichever they are") {
  on_every_target([] {
    Numbers numbers(6);
    for (const std::size_t pixel : {1, 2, 3, 4, 6, 8}) {
      const std::size_t count = rows_together(pixel);
      std::size_t choices = 1;
      for (std::size_t row = 0; row < count; ++row) choices *= filters;
      for (std::size_t choice = 0; choice < choices; ++choice) {
        std::vector<Filter> of_rows;
        for (std::size_t left = choice; of_rows.size() < count; left /= filters)
          of_rows.push_back(static_cast<Filter>(left % filters));
        for (const int most : {5, 70})
          check_together(of_rows, pixel, static_cast<std::size_t>(numbers.from(1, most)), numbers);
      }
    }
  });
}

TEST_CASE("Paeth's and the average's predictions are right for all neighbours") {
  on_every_target([] {
    // Pairs of pixels. Above the first is the corner, and above the second the value that is up.
    Row stored(2 * filter_margin), above(2 + filter_margin), alone(2 + filter_margin), together(10 * filter_margin);
    std::uint8_t* const pair = stored.data() + filter_margin;
    const std::uint8_t* const first_of_rows = together.data() + filter_margin;
    for (const Filter filter : {average_filter, paeth_filter})
      for (int left = 0; left < 256; ++left)
        for (int up = 0; up < 256; up += 5)
          for (int corner = 0; corner < 256; corner += 3) {
            above[0] = static_cast<std::uint8_t>(corner), above[1] = static_cast<std::uint8_t>(up);
            pair[0] = static_cast<std::uint8_t>(left - predicted(filter, 0, corner, 0));
            undo_filter(filter, 1, pair, above.data(), 2, alone.data());
            // Other rows follow.
            undo_filters(1, {{filter, no_filter, no_filter, no_filter},
                             pair,
                             3,
                             above.data(),
                             2,
                             together.data() + filter_margin,
                             2 * filter_margin});
            const int expected = predicted(filter, left, up, corner);
            if (alone[0] != left || alone[1] != expected || first_of_rows[0] != left || first_of_rows[1] != expected) {
              CAPTURE(left, up, corner, int{filter}, int{alone[1]}, int{first_of_rows[1]});
              FAIL("another prediction");
            }
          }
  });
}

}  // namespace PENSTOCK_TEST_FILE
