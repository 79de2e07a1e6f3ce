// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <penstock/dtype.hpp>

namespace penstock::detail {

/// Returns the element of an integer dtype at `data`. A u64 of 2^63 or more becomes negative.
inline std::int64_t integer_at(DType dtype, const std::byte* data) noexcept {
  const auto as = [data](auto value) {
    std::memcpy(&value, data, sizeof value);
    return static_cast<std::int64_t>(value);
  };
  switch (dtype) {
    case DType::i8:
      return as(std::int8_t{});
    case DType::u16:
      return as(std::uint16_t{});
    case DType::i16:
      return as(std::int16_t{});
    case DType::u32:
      return as(std::uint32_t{});
    case DType::i32:
      return as(std::int32_t{});
    case DType::u64:
      return as(std::uint64_t{});
    case DType::i64:
      return as(std::int64_t{});
    default:
      return as(std::uint8_t{});
  }
}

}  // namespace penstock::detail
