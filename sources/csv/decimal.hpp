#pragma once

#include <string_view>

namespace penstock::csv {

/// Writes the float or double nearest to the number that all of `text` says, as std::from_chars does, which takes
/// longer. False, and `out` as it is, where it can't tell: more than 19 digits, sizes far from 1, numbers that lie half
/// way between two others, and whatever is no decimal number.
template <class T>
bool parse_decimal(std::string_view text, T& out) noexcept;

extern template bool parse_decimal(std::string_view text, float& out) noexcept;
extern template bool parse_decimal(std::string_view text, double& out) noexcept;

}  // namespace penstock::csv
