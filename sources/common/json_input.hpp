// SPDX-License-Identifier: Apache-2.0
// Reads JSON from untrusted files, and explains why a text is not JSON or not the expected JSON.
#pragma once

#include <exception>
#include <string>
#include <string_view>

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

/// Returns `value` as a whole number. nlohmann's own `get` would also convert 1e300, which is undefined behaviour.
/// @throws Error(corrupt), which names no file, if the number has a point or an exponent, or needs more than 64 bits;
/// nlohmann's exception if `value` is not a number.
template <class Int, class Json>
Int whole_number(const Json& value) {
  if (value.is_number_float()) throw Error(Errc::corrupt, "a number has a fraction, or is too large");
  return value.template get<Int>();
}

}  // namespace penstock::common
