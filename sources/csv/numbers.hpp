#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/dtype.hpp>

namespace penstock::csv {

enum class NumberFault : std::uint8_t {
  none,
  not_a_number,
  out_of_range,
  rounded,  ///< a whole number that the float does not have
};

/// The cell without the spaces and tabs around it.
std::string_view trimmed(std::string_view cell) noexcept;

/// Writes the number that `cell` says, all of it but for white space, as `dtype`, which f16 can't be.
NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept;

/// Writes `value` as `dtype`. False where that isn't exactly the value, or for floats where it is a whole number that
/// they don't have, or outside their range.
bool store_number(double value, DType dtype, std::byte* to) noexcept;

/// Types that hold the whole number that `cell` says, for people: "i64 or f64", "text".
std::string whole_number_types(std::string_view cell);

/// What a cell of that dtype holds: "a whole number".
std::string_view describe_number(DType dtype) noexcept;

}  // namespace penstock::csv
