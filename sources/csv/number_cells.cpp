#include "number_cells.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "decimal.hpp"
#include "short_number.hpp"
#include "whole_number.hpp"

namespace penstock::csv {

namespace {

// A cell of digits alone, but for sign, point and exponent.
template <class T>
bool parse_long(std::string_view cell, T& out) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return parse_decimal(cell, out) && keeps_whole_number(cell, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    return false;
  } else {
    const char* const end = cell.data() + cell.size();
    const auto [parsed, failed] = std::from_chars(cell.data(), end, out);
    return failed == std::errc() && parsed == end;
  }
}

template <class T>
std::size_t take(CellScanner& cells, std::size_t count, std::byte* to) noexcept {
  CellScanner::Position position = cells.position();
  std::size_t done = 0;
  for (; done < count && !position.ended; ++done) {
    const std::string_view cell = cells.plain(position);
    T value{};
    if (!parse_short(cell, value)) {
      T found{};
      if (!parse_long(cell, found)) {
        cells.go_on(cell);
        return done;
      }
      value = found;
    }
    std::memcpy(to + done * sizeof value, &value, sizeof value);
  }
  cells.go_on(position);
  return done;
}

}  // namespace

std::size_t take_numbers(CellScanner& cells, std::size_t count, DType dtype, std::byte* to) {
  switch (dtype) {
    case DType::u8:
      return take<std::uint8_t>(cells, count, to);
    case DType::i8:
      return take<std::int8_t>(cells, count, to);
    case DType::u16:
      return take<std::uint16_t>(cells, count, to);
    case DType::i16:
      return take<std::int16_t>(cells, count, to);
    case DType::u32:
      return take<std::uint32_t>(cells, count, to);
    case DType::i32:
      return take<std::int32_t>(cells, count, to);
    case DType::u64:
      return take<std::uint64_t>(cells, count, to);
    case DType::i64:
      return take<std::int64_t>(cells, count, to);
    case DType::f32:
      return take<float>(cells, count, to);
    case DType::f64:
      return take<double>(cells, count, to);
    case DType::boolean:
      return take<bool>(cells, count, to);
    case DType::f16:
    case DType::bf16:
      break;
  }
  return 0;
}

}  // namespace penstock::csv
