#include "whole_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

namespace penstock::csv {

template <class T>
bool keeps_whole_number(std::string_view text, T value) noexcept {
  const T size = std::abs(value);
  // Below it floats have all whole numbers.
  constexpr T end = static_cast<T>(std::uint64_t{1} << std::numeric_limits<T>::digits);
  if (!(size >= end && size <= std::numeric_limits<T>::max())) return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return true;
  char exact[std::numeric_limits<T>::max_exponent10 + 2];
  const auto [last, failed] = std::to_chars(exact, exact + sizeof exact, size, std::chars_format::fixed, 0);
  return failed == std::errc() && text == std::string_view(exact, static_cast<std::size_t>(last - exact));
}

template bool keeps_whole_number(std::string_view text, float value) noexcept;
template bool keeps_whole_number(std::string_view text, double value) noexcept;

}  // namespace penstock::csv
