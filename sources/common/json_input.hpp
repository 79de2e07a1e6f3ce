// SPDX-License-Identifier: Apache-2.0
// Reads JSON from untrusted files, and explains why a text is not JSON or not the expected JSON.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

/// Returns the message of `failed`, an exception of nlohmann's library. Leaves out the error's name in brackets at the
/// beginning of the message. The result is one line, cut after about `longest` characters.
inline std::string json_cause(const std::exception& failed, std::size_t longest = 300) {
  const std::string_view what = failed.what();
  const std::size_t after = what.find("] ");
  return printable(after == what.npos ? what : what.substr(after + 2), longest);
}

/// Returns `value` as a whole number. nlohmann's own `get` would also convert 1e300, which is undefined behaviour, and
/// would make -1 a large unsigned number.
/// @throws Error(corrupt), which names no file, if the number has a point or an exponent, or does not fit in `Int`;
/// nlohmann's exception if `value` is not a number.
template <class Int, class Json>
Int whole_number(const Json& value) {
  if (value.is_number_float()) throw Error(Errc::corrupt, "a number has a fraction, or is too large");
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<Int>(value.template get<std::uint64_t>())
                        : !value.is_number_integer() || std::in_range<Int>(value.template get<std::int64_t>());
  if (!fits) throw Error(Errc::corrupt, "the number " + value.dump() + " is too large, or negative");
  return value.template get<Int>();
}

}  // namespace penstock::common
