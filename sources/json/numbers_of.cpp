// SPDX-License-Identifier: Apache-2.0
#include "numbers_of.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "common/numbers/short_number.hpp"
#include "common/numbers/with_number_type.hpp"

namespace penstock::json {

common::NumberFault store_token(std::string_view token, DType dtype, std::byte* to) noexcept {
  return common::with_number_type(dtype, common::NumberFault::not_a_number, [&]<class T>(T) {
    if (T value{}; common::parse_short(token, value)) {
      std::memcpy(to, &value, sizeof value);
      return common::NumberFault::none;
    }
    // The grammar has been checked, so a sign can only be wrong for the type.
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      const bool whole = token.find_first_of(".eE") == std::string_view::npos;
      if (token == "-0") return common::parse_number("0", dtype, to);
      if (token.starts_with('-') && whole) return common::NumberFault::out_of_range;
    }
    return common::parse_number(token, dtype, to);
  });
}

bool store_boolean(bool value, DType dtype, std::byte* to) noexcept {
  if (dtype != DType::u8 && dtype != DType::boolean) return false;
  *to = static_cast<std::byte>(value ? 1 : 0);
  return true;
}

}  // namespace penstock::json
