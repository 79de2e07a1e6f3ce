// SPDX-License-Identifier: Apache-2.0
// Calls a function with the element type of a dtype.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <penstock/dtype.hpp>

namespace penstock::numeric {

/// Calls `f(std::type_identity<T>())`, where T is the element type of `dtype`.
template <class F>
void with_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::u8:
      return f(std::type_identity<std::uint8_t>());
    case DType::i8:
      return f(std::type_identity<std::int8_t>());
    case DType::u16:
      return f(std::type_identity<std::uint16_t>());
    case DType::i16:
      return f(std::type_identity<std::int16_t>());
    case DType::u32:
      return f(std::type_identity<std::uint32_t>());
    case DType::i32:
      return f(std::type_identity<std::int32_t>());
    case DType::u64:
      return f(std::type_identity<std::uint64_t>());
    case DType::i64:
      return f(std::type_identity<std::int64_t>());
    case DType::f16:
      return f(std::type_identity<Half>());
    case DType::bf16:
      return f(std::type_identity<BFloat16>());
    case DType::f32:
      return f(std::type_identity<float>());
    case DType::f64:
      return f(std::type_identity<double>());
    case DType::boolean:
      return f(std::type_identity<bool>());
  }
}

}  // namespace penstock::numeric
