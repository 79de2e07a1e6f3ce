// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/dtype.hpp>
#include <penstock/error.hpp>

#include "common/numbers/numbers.hpp"
#include "cursor.hpp"

namespace penstock::json {

/// Number of dimensions that a field of numbers may have.
inline constexpr std::size_t max_rank = 3;

/// Writes a number as `dtype`. Returns what is wrong with it, or `none`.
common::NumberFault store_token(std::string_view token, DType dtype, std::byte* to) noexcept;
/// Writes true or false as `dtype`. Returns false if it is neither u8 nor boolean.
bool store_boolean(bool value, DType dtype, std::byte* to) noexcept;

/// Finds the lengths of the arrays at the cursor, which passes them: `dims[k]` for level k, -1 where no array has that
/// level. Calls `leaf` at each value at level `rank`, which it must pass.
/// @throws Error(corrupt), with the offset, if arrays of one level differ in length, or a value above level `rank` is
/// not an array.
template <class Leaf>
void measure(Cursor& cursor, std::size_t rank, std::array<std::int64_t, max_rank>& dims, Leaf& leaf,
             std::size_t level = 0) {
  if (level == rank) return leaf(cursor);
  const Kind kind = cursor.peek();
  const std::size_t offset = cursor.offset();
  if (kind != Kind::array)
    throw Error(Errc::corrupt, "has " + std::string(to_words(kind)) + " where an array was expected")
        .with_offset(offset);
  std::int64_t length = 0;
  cursor.each_element([&] {
    measure(cursor, rank, dims, leaf, level + 1);
    ++length;
  });
  if (dims[level] >= 0 && dims[level] != length)
    throw Error(Errc::corrupt, "has arrays of different lengths in one array, " + std::to_string(dims[level]) +
                                   " and " + std::to_string(length))
        .with_offset(offset);
  dims[level] = length;
}

}  // namespace penstock::json
