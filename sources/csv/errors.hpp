#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::csv {

inline constexpr std::string_view source_name = "csv";

/// An Error of this source about a file, with the offset in it where there is one.
inline Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset = {}) {
  return file_error(source_name, file, code, std::move(cause), offset);
}

/// What the system reported while `doing` ("opening the file").
inline Error system_error(int code, std::string_view doing, const std::string& file) {
  return penstock::system_error(source_name, code, doing, file);
}

/// Text of a file on one line, cut after about 60 characters.
inline std::string printable(std::string_view text) { return penstock::printable(text, 60); }

}  // namespace penstock::csv
