// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <penstock/detail/export.hpp>

namespace penstock {

/// The bits of an IEEE 754 binary16. The type has no arithmetic: the code that uses the batch does the arithmetic.
struct Half {
  /// Sign, 5 bits of exponent, 10 bits of fraction.
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};

/// The bits of a bfloat16: the upper half of a binary32.
struct BFloat16 {
  /// Sign, 8 bits of exponent, 7 bits of fraction.
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Element type of a tensor.
enum class DType : std::uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, boolean, bf16 };

/// Bytes per element.
PENSTOCK_API std::size_t size_of(DType dtype) noexcept;
/// True if elements are whole numbers, like labels; this includes booleans, which are 0 and 1.
PENSTOCK_API bool is_whole(DType dtype) noexcept;
/// Returns "u8", "f32", …
PENSTOCK_API std::string_view to_string(DType dtype) noexcept;

/// DType of a C++ element type. `dtype_of<const T>` is the same as `dtype_of<T>`. `std::byte` counts as u8.
template <class T>
struct DTypeOf {
  static_assert(
      sizeof(T) == 0,
      "penstock: there is no dtype for this element type; elements are std::uint8_t to std::uint64_t, "
      "std::int8_t to std::int64_t, Half, BFloat16, float, double, bool, or std::byte (char, long long and long double "
      "are other types than these)");
  /// The dtype.
  static constexpr DType value = DType::u8;  // without a value the compiler would print a second error
};
template <class T>
struct DTypeOf<const T> : DTypeOf<T> {};
/// Only for this file.
#define PENSTOCK_DTYPE(type, name)              \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
PENSTOCK_DTYPE(std::uint8_t, u8)
PENSTOCK_DTYPE(std::byte, u8)
PENSTOCK_DTYPE(std::int8_t, i8)
PENSTOCK_DTYPE(std::uint16_t, u16)
PENSTOCK_DTYPE(std::int16_t, i16)
PENSTOCK_DTYPE(std::uint32_t, u32)
PENSTOCK_DTYPE(std::int32_t, i32)
PENSTOCK_DTYPE(std::uint64_t, u64)
PENSTOCK_DTYPE(std::int64_t, i64)
PENSTOCK_DTYPE(Half, f16)
PENSTOCK_DTYPE(BFloat16, bf16)
PENSTOCK_DTYPE(float, f32)
PENSTOCK_DTYPE(double, f64)
PENSTOCK_DTYPE(bool, boolean)
#undef PENSTOCK_DTYPE

/// DType of a C++ element type.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace penstock
