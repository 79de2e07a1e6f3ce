// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/cast.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/stages/map.hpp>

#include "with_element.hpp"

namespace penstock {

namespace {

// Returns the number that `value` stands for: a float for Half and BFloat16, which are bits.
template <class T>
auto value_of(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return from_half(value.bits);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return from_bfloat16(value.bits);
  else
    return value;
}

// Returns whether the integer type To can hold `value` without its fraction. Compares floats with powers of two, which
// floating types hold exactly.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    constexpr From above = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    if constexpr (std::is_signed_v<To>)
      return value < above && std::trunc(value) >= -above;
    else
      return value < above && value > From{-1};
  } else {
    return std::in_range<To>(value);
  }
}

// Returns a double that rounds to the same bfloat16 as the integer. To round the integer twice, to double and then to
// bfloat16, could return the second-nearest bfloat16. So the bits that a double has no room for only set its last bit.
template <class Int>
double rounded_to_odd(Int value) {
  constexpr int digits = std::numeric_limits<double>::digits;
  const bool negative = std::cmp_less(value, 0);
  std::uint64_t bits = negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  const int dropped = std::max(static_cast<int>(std::bit_width(bits)) - digits, 0);
  const std::uint64_t rest = bits & ((std::uint64_t{1} << dropped) - 1);
  bits = (bits >> dropped) | static_cast<std::uint64_t>(rest != 0);
  const double size = std::ldexp(static_cast<double>(bits), dropped);
  return negative ? -size : size;
}

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, float>)
      return {to_half(value)};
    else
      return {to_half(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>)
      return {to_bfloat16(value)};
    else if constexpr (std::is_integral_v<From> && sizeof(From) == 8)
      return {to_bfloat16(rounded_to_odd(value))};
    else
      return {to_bfloat16(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else {
    return static_cast<To>(value);
  }
}

[[noreturn]] void refuse(const TensorView& in, std::size_t at, const std::string& value, DType to) {
  throw Error(Errc::unsupported, "element " + std::to_string(at) + " of " + in.shape.to_string() + " is " + value +
                                     ", which " + std::string(to_string(to)) + " does not have");
}

template <class From, class To>
void convert(const TensorView& in, const TensorView& out) {
  const auto* from = reinterpret_cast<const From*>(in.data);
  auto* to = reinterpret_cast<To*>(out.data);
  const std::size_t count = in.shape.elements();
  using Value = decltype(value_of(From{}));
  constexpr bool may_not_fit = std::is_integral_v<To> && !std::is_same_v<To, bool> && !std::is_same_v<Value, bool>;
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = value_of(from[i]);
    if constexpr (may_not_fit)
      if (!fits<To>(value)) [[unlikely]]
        refuse(in, i, std::to_string(value), dtype_of<To>);
    to[i] = converted<To>(value);
  }
}

}  // namespace

void Cast::operator()(const TensorView& in, const TensorView& out) const {
  numeric::with_element(in.dtype, [&]<class From>(std::type_identity<From>) {
    numeric::with_element(out.dtype, [&]<class To>(std::type_identity<To>) { convert<From, To>(in, out); });
  });
}

std::string Cast::describe() const { return "to " + std::string(to_string(to_)); }

Stage cast(std::string field, DType to) {
  const bool same_numbers = is_whole(to) && to != DType::boolean;
  return map(std::move(field), Cast(to), {.name = "cast", .keep_classes = same_numbers});
}

}  // namespace penstock
