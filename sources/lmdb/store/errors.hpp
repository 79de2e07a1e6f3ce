// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

#include "common/file_errors.hpp"

namespace penstock::lmdb {

inline constexpr std::string_view source_name = "lmdb";

inline constexpr common::FileError error_in{source_name};

/// Makes an Error that names the file, from an error code of LMDB or of the system. `doing` says what failed, like
/// "opening the store".
Error error_of(int code, std::string_view doing, std::string_view file);

/// Makes the Error for a failed write. If the disk may be full, the Error reports the bytes needed and the bytes free.
Error write_error(int code, std::string_view doing, const std::string& file, std::size_t bytes);

/// Throws the Error that `error_of` returns, if `code` is not 0.
inline void check(int code, std::string_view doing, std::string_view file) {
  if (code != 0) [[unlikely]]
    throw error_of(code, doing, file);
}

/// Damage that a parser found in a value. The parser does not know the value's key, or where the file has the value.
struct Damage {
  std::string what;        ///< like "the record's checksum differs"
  std::size_t offset = 0;  ///< offset in the value
  Errc code = Errc::corrupt;
};

}  // namespace penstock::lmdb
