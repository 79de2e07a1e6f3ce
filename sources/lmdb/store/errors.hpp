#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

#include "common/file_errors.hpp"

namespace penstock::lmdb {

inline constexpr std::string_view source_name = "lmdb";

inline constexpr common::FileError error_in{source_name};

/// What LMDB, or the system below it, reported while `doing` ("opening the store"), as an Error with file.
Error error_of(int code, std::string_view doing, std::string_view file);

/// The Error for a failed write: says how much room was needed and how much there is.
Error write_error(int code, std::string_view doing, const std::string& file, std::size_t bytes);

/// Throws unless `code` is success.
inline void check(int code, std::string_view doing, std::string_view file) {
  if (code != 0) [[unlikely]]
    throw error_of(code, doing, file);
}

/// Damage found in a value by a parser that knows neither its key nor where it lies.
struct Damage {
  std::string what;        ///< "its checksum differs"
  std::size_t offset = 0;  ///< offset in the value
  Errc code = Errc::corrupt;
};

}  // namespace penstock::lmdb
