// SPDX-License-Identifier: Apache-2.0
// Reads JSON from untrusted files, and explains why a text is not JSON or not the expected JSON.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

/// Returns the cause for a person, without the library's own name of the error, which comes before it in brackets. On
/// one line, cut after about `longest` characters.
inline std::string json_cause(const std::exception& failed, std::size_t longest = 300) {
  const std::string_view what = failed.what();
  const std::size_t after = what.find("] ");
  return printable(after == what.npos ? what : what.substr(after + 2), longest);
}

/// Returns a whole number. The library would convert 1e300 too, which is undefined.
/// @throws Error(corrupt), without a file, for a number with a fraction or beyond 64 bits; what the library throws if
/// it is not a number.
template <class Int, class Json>
Int whole_number(const Json& value) {
  if (value.is_number_float()) throw Error(Errc::corrupt, "a number has a fraction, or is too large");
  return value.template get<Int>();
}

}  // namespace penstock::common
