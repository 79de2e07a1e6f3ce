// SPDX-License-Identifier: Apache-2.0
#include "common/natural_order.hpp"

#include <cstddef>

namespace penstock::common {

namespace {

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

int rank(char c) noexcept { return c == '/' ? -1 : static_cast<unsigned char>(c); }

// Removes the digits at the beginning of `text`, and returns them without leading zeros.
std::string_view take_number(std::string_view& text) noexcept {
  while (text.size() > 1 && text[0] == '0' && digit(text[1])) text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && digit(text[length])) ++length;
  const std::string_view number = text.substr(0, length);
  text.remove_prefix(length);
  return number;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  std::string_view left = a, right = b;
  while (!left.empty() && !right.empty()) {
    if (digit(left[0]) && digit(right[0])) {
      const std::string_view x = take_number(left), y = take_number(right);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (left[0] != right[0]) return rank(left[0]) < rank(right[0]);
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;
}

}  // namespace penstock::common
