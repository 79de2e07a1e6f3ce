// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "common/tables/text_lines.hpp"
#include "with_number_type.hpp"

namespace penstock::common {

namespace {

// Returns false if `text` has only digits, perhaps after a '-', and `value`, the float nearest to that number, is a
// different number. Returns true for a number with a point or an exponent. Such a number may have been a float, written
// with just enough digits to distinguish it from other floats.
template <class T>
bool keeps_whole_number(std::string_view text, T value) noexcept {
  const T size = std::abs(value);
  // Floats hold all whole numbers below `end`.
  constexpr T end = static_cast<T>(std::uint64_t{1} << std::numeric_limits<T>::digits);
  if (!(size >= end && size <= std::numeric_limits<T>::max())) return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return true;
  char exact[std::numeric_limits<T>::max_exponent10 + 2];
  const auto [last, failed] = std::to_chars(exact, exact + sizeof exact, size, std::chars_format::fixed, 0);
  return failed == std::errc() && text == std::string_view(exact, static_cast<std::size_t>(last - exact));
}

template <class T>
NumberFault parse(std::string_view text, std::byte* to) noexcept {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::not_a_number;
  if (failed != std::errc()) return NumberFault::out_of_range;
  std::memcpy(to, &value, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    if (!keeps_whole_number(text, value)) return NumberFault::rounded;
  }
  return NumberFault::none;
}

template <>
NumberFault parse<bool>(std::string_view text, std::byte* to) noexcept {
  const bool yes = text == "1" || text == "true" || text == "True" || text == "TRUE";
  if (!yes && text != "0" && text != "false" && text != "False" && text != "FALSE") return NumberFault::not_a_number;
  *to = static_cast<std::byte>(yes ? 1 : 0);
  return NumberFault::none;
}

template <class T>
bool store(double value, std::byte* to) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<T>::max())) return false;
    if (value == std::trunc(value) && static_cast<double>(static_cast<T>(value)) != value) return false;
  } else {
    // `end` is excluded. As a double, the largest 64-bit number would be rounded up to `end`.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(value >= static_cast<double>(std::numeric_limits<T>::min()) && value < end) || value != std::trunc(value))
      return false;
  }
  const auto stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof stored);
  return true;
}

}  // namespace

NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept {
  std::string_view text = trimmed(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return with_number_type(dtype, NumberFault::not_a_number, [&]<class T>(T) { return parse<T>(text, to); });
}

bool store_number(double value, DType dtype, std::byte* to) noexcept {
  return with_number_type(dtype, false, [&]<class T>(T) { return store<T>(value, to); });
}

std::string whole_number_types(std::string_view cell) {
  std::string types;
  std::array<std::byte, 8> ignored{};
  for (const DType dtype : {DType::i64, DType::u64, DType::f64}) {
    if (parse_number(cell, dtype, ignored.data()) != NumberFault::none) continue;
    if (dtype == DType::u64 && !types.empty()) continue;
    types += (types.empty() ? "" : " or ") + std::string(to_string(dtype));
  }
  return types.empty() ? "text" : types;
}

std::string_view describe_number(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean:
      return "0, 1, true or false";
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return "a number";
    default:
      return "a whole number";
  }
}

}  // namespace penstock::common
