// SPDX-License-Identifier: Apache-2.0
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
  rounded,  ///< a whole number that the float can't hold
};

/// Returns the cell without surrounding spaces and tabs.
std::string_view trimmed(std::string_view cell) noexcept;

/// Writes the number in `cell` as `dtype`, which must not be f16. Only white space may surround the number.
NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept;

/// Writes `value` as `dtype`. Returns false if the type doesn't hold exactly this value. For floats it returns false
/// only for a whole number that they don't hold, or a value outside their range.
bool store_number(double value, DType dtype, std::byte* to) noexcept;

/// Lists the types that hold the whole number in `cell`, for people: "i64 or f64", "text".
std::string whole_number_types(std::string_view cell);

/// Describes what a cell of that dtype holds: "a whole number".
std::string_view describe_number(DType dtype) noexcept;

}  // namespace penstock::csv
