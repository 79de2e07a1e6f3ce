// SPDX-License-Identifier: Apache-2.0
// Texts that stages share. A number has the fewest digits that read back as the same value, so that a text shows an
// option exactly.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock::image {

inline std::string text(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

inline std::string text(Size size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

inline std::string text(const std::vector<double>& values) {
  std::string list;
  for (const double value : values) list += (list.empty() ? "" : " ") + text(value);
  return list;
}

// Returns "1 channel" or "3 channels", for instance.
inline std::string counted(std::uint64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Returns `size`, for the constructor of `stage`. @throws Error(invalid_argument) if a side is below 1.
inline Size checked_size(const char* stage, Size size) {
  if (size.height < 1 || size.width < 1)
    throw Error(Errc::invalid_argument, std::string(stage) + " to " + text(size) + ": both sides must be at least 1");
  return size;
}

}  // namespace penstock::image
