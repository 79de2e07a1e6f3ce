// Why a text is no JSON, or not the JSON that is read.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <penstock/extend/system_error.hpp>

namespace penstock::common {

/// For a person: without the library's own name of the error, which stands before it in brackets. On one line, cut
/// after about `longest` characters.
inline std::string json_cause(const std::exception& failed, std::size_t longest = 300) {
  const std::string_view what = failed.what();
  const std::size_t after = what.find("] ");
  return printable(after == what.npos ? what : what.substr(after + 2), longest);
}

}  // namespace penstock::common
