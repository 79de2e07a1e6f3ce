// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/dtype.hpp>

namespace penstock::common {

enum class NumberFault : std::uint8_t {
  none,
  not_a_number,
  out_of_range,
  rounded,  ///< a whole number that the float can't hold
};

/// Writes the number in `cell` as `dtype`, which must not be f16 or bf16. Only spaces and tabs may surround the number.
/// Returns what is wrong with the cell, or `none`.
NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept;

/// Writes `value` as `dtype`. Returns false if `value` is outside the type's range, is a whole number that the type
/// doesn't hold, or has a fraction that a type of whole numbers can't hold. A float type may round other values.
bool store_number(double value, DType dtype, std::byte* to) noexcept;

/// Returns in words which types hold the whole number in `cell`: "i64 or f64". Returns "text" if no type does.
std::string whole_number_types(std::string_view cell);

/// Describes a number that `dtype` can hold, for example "a whole number".
std::string_view describe_number(DType dtype) noexcept;

}  // namespace penstock::common
