#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <penstock/dtype.hpp>

namespace penstock::csv {

enum class NumberFault : std::uint8_t { none, not_a_number, out_of_range };

/// Without the spaces and tabs around it.
std::string_view trimmed(std::string_view cell) noexcept;

/// Writes the number that `cell` says, all of it but for white space, as `dtype`, which f16 can't be.
NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept;

/// Writes `value` as `dtype`. False where that isn't exactly the value, or for floats where it is outside their range.
bool store_number(double value, DType dtype, std::byte* to) noexcept;

/// What a cell of that dtype holds: "a whole number".
std::string_view describe_number(DType dtype) noexcept;

}  // namespace penstock::csv
