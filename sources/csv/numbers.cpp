#include "numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "decimal.hpp"
#include "whole_number.hpp"

namespace penstock::csv {

namespace {

template <class T>
NumberFault parse(std::string_view text, std::byte* to) noexcept {
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    if (parse_decimal(text, value)) {
      std::memcpy(to, &value, sizeof value);
      return keeps_whole_number(text, value) ? NumberFault::none : NumberFault::rounded;
    }
  }
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::not_a_number;
  if (failed != std::errc()) return NumberFault::out_of_range;
  std::memcpy(to, &value, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    if (!keeps_whole_number(text, value)) return NumberFault::rounded;
  }
  return NumberFault::none;
}

NumberFault parse_boolean(std::string_view text, std::byte* to) noexcept {
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
    // The largest 64-bit values round up as a double, so the end is excluded.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(value >= static_cast<double>(std::numeric_limits<T>::min()) && value < end) || value != std::trunc(value))
      return false;
  }
  const auto stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof stored);
  return true;
}

}  // namespace

std::string_view trimmed(std::string_view cell) noexcept {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!cell.empty() && space(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && space(cell.back())) cell.remove_suffix(1);
  return cell;
}

NumberFault parse_number(std::string_view cell, DType dtype, std::byte* to) noexcept {
  std::string_view text = trimmed(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  switch (dtype) {
    case DType::u8:
      return parse<std::uint8_t>(text, to);
    case DType::i8:
      return parse<std::int8_t>(text, to);
    case DType::u16:
      return parse<std::uint16_t>(text, to);
    case DType::i16:
      return parse<std::int16_t>(text, to);
    case DType::u32:
      return parse<std::uint32_t>(text, to);
    case DType::i32:
      return parse<std::int32_t>(text, to);
    case DType::u64:
      return parse<std::uint64_t>(text, to);
    case DType::i64:
      return parse<std::int64_t>(text, to);
    case DType::f32:
      return parse<float>(text, to);
    case DType::f64:
      return parse<double>(text, to);
    case DType::boolean:
      return parse_boolean(text, to);
    case DType::f16:
    case DType::bf16:
      break;
  }
  return NumberFault::not_a_number;
}

bool store_number(double value, DType dtype, std::byte* to) noexcept {
  switch (dtype) {
    case DType::u8:
      return store<std::uint8_t>(value, to);
    case DType::i8:
      return store<std::int8_t>(value, to);
    case DType::u16:
      return store<std::uint16_t>(value, to);
    case DType::i16:
      return store<std::int16_t>(value, to);
    case DType::u32:
      return store<std::uint32_t>(value, to);
    case DType::i32:
      return store<std::int32_t>(value, to);
    case DType::u64:
      return store<std::uint64_t>(value, to);
    case DType::i64:
      return store<std::int64_t>(value, to);
    case DType::f32:
      return store<float>(value, to);
    case DType::f64:
      return store<double>(value, to);
    case DType::boolean:
      *to = static_cast<std::byte>(value == 1 ? 1 : 0);
      return value == 0 || value == 1;
    case DType::f16:
    case DType::bf16:
      break;
  }
  return false;
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

}  // namespace penstock::csv
