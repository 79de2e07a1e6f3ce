// JSON of files that may come from anywhere: why it is none, or not the JSON that is read.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

/// For a person: without the library's own name of the error, which stands before it in brackets. On one line, cut
/// after about `longest` characters.
inline std::string json_cause(const std::exception& failed, std::size_t longest = 300) {
  const std::string_view what = failed.what();
  const std::size_t after = what.find("] ");
  return printable(after == what.npos ? what : what.substr(after + 2), longest);
}

/// A whole number. The library makes one of 1e300, too, which is undefined. @throws Error(corrupt), without a file, for
/// one with a fraction or beyond 64 bits; what the library throws for what is no number.
template <class Int, class Json>
Int whole_number(const Json& value) {
  if (value.is_number_float()) throw Error(Errc::corrupt, "a number has a fraction, or is too large");
  return value.template get<Int>();
}

}  // namespace penstock::common
