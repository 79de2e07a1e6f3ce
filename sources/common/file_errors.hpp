// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

/// Makes an Error of one source about a file. The Error has the offset in the file, if one is given.
struct FileError {
  /// The source's name.
  std::string_view source;
  Error operator()(const std::string& file, Errc code, std::string cause,
                   std::optional<std::uint64_t> offset = {}) const {
    return file_error(source, file, code, std::move(cause), offset);
  }
};

/// Makes an Error of one source from the system's error `code`. `doing` says what the source was doing, for example
/// "opening the file".
struct SystemError {
  /// The source's name.
  std::string_view source;
  Error operator()(int code, std::string_view doing, const std::string& file) const {
    return penstock::system_error(source, code, doing, file);
  }
};

/// Makes the Error of one source for a failed write. If the disk may be full, the Error reports the bytes needed and
/// the bytes free.
struct WriteError {
  /// The source's name.
  std::string_view source;
  Error operator()(int code, std::string_view doing, const std::string& file, std::uint64_t bytes) const {
    return penstock::write_error(source, code, doing, file, bytes);
  }
};

}  // namespace penstock::common
