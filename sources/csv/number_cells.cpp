// SPDX-License-Identifier: Apache-2.0
#include "number_cells.hpp"

#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "common/numbers/numbers.hpp"
#include "common/numbers/short_number.hpp"
#include "common/numbers/with_number_type.hpp"

namespace penstock::csv {

namespace {

// Writes the number in a cell. Returns false if the cell is not a valid number of `dtype`, and also for "inf" and
// "nan", which may stand for missing numbers.
template <class T>
bool parse_long(std::string_view cell, DType dtype, std::byte* to) noexcept {
  if (common::parse_number(cell, dtype, to) != common::NumberFault::none) return false;
  if constexpr (std::is_floating_point_v<T>) {
    T value{};
    std::memcpy(&value, to, sizeof value);
    return std::isfinite(value);
  }
  return true;
}

template <class T>
std::size_t take(CellScanner& cells, std::size_t count, DType dtype, std::byte* to) noexcept {
  CellScanner::Position position = cells.position();
  std::size_t done = 0;
  for (; done < count && !position.ended; ++done, to += sizeof(T)) {
    const std::string_view cell = cells.plain(position);
    if (T value{}; common::parse_short(cell, value)) {
      std::memcpy(to, &value, sizeof value);
    } else if (!parse_long<T>(cell, dtype, to)) {
      cells.go_on(cell);
      return done;
    }
  }
  cells.go_on(position);
  return done;
}

}  // namespace

std::size_t take_numbers(CellScanner& cells, std::size_t count, DType dtype, std::byte* to) {
  return common::with_number_type(dtype, std::size_t{0}, [&]<class T>(T) { return take<T>(cells, count, dtype, to); });
}

}  // namespace penstock::csv
