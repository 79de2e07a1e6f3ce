#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::webdataset {

inline constexpr std::string_view source_name = "webdataset";

/// An Error of this source about a file, with the offset in it where there is one.
inline Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset = {}) {
  return file_error(source_name, file, code, std::move(cause), offset);
}

/// What the system reported while `doing` ("opening the file").
inline Error system_error(int code, std::string_view doing, const std::string& file) {
  return penstock::system_error(source_name, code, doing, file);
}

/// The Error for a failed write: says how much room was needed and how much there is.
inline Error write_error(int code, std::string_view doing, const std::string& file, std::uint64_t bytes) {
  return penstock::write_error(source_name, code, doing, file, bytes);
}

}  // namespace penstock::webdataset
