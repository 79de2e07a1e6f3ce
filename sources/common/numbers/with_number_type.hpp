// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/dtype.hpp>

namespace penstock::common {

/// Calls `f` with a value of the C++ type of `dtype`, and returns the result of `f`. Returns `otherwise` for f16 and
/// bf16, which texts don't have.
template <class F, class Result>
Result with_number_type(DType dtype, Result otherwise, F f) {
  switch (dtype) {
    case DType::u8:
      return f(std::uint8_t{});
    case DType::i8:
      return f(std::int8_t{});
    case DType::u16:
      return f(std::uint16_t{});
    case DType::i16:
      return f(std::int16_t{});
    case DType::u32:
      return f(std::uint32_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::u64:
      return f(std::uint64_t{});
    case DType::i64:
      return f(std::int64_t{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::boolean:
      return f(bool{});
    case DType::f16:
    case DType::bf16:
      break;
  }
  return otherwise;
}

}  // namespace penstock::common
