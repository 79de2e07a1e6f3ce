#pragma once

#include <string_view>

namespace penstock::csv {

/// False where all of `text` is a sign and digits, and `value`, the float nearest to them, is another whole number.
/// What has a point or an exponent was written as a float, perhaps in the fewest digits that tell it from others.
template <class T>
bool keeps_whole_number(std::string_view text, T value) noexcept;

extern template bool keeps_whole_number(std::string_view text, float value) noexcept;
extern template bool keeps_whole_number(std::string_view text, double value) noexcept;

}  // namespace penstock::csv
