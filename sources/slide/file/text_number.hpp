// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace penstock::slide {

/// Returns a text without the spaces and line ends around it.
inline std::string_view without_spaces(std::string_view text) noexcept {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// Reads a finite number in the format of the "C" locale, with or without spaces around it. Returns none for any other
/// text.
inline std::optional<double> number_in(std::string_view text) noexcept {
  text = without_spaces(text);
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace penstock::slide
