// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "common/lines/input_file.hpp"
#include "common/lines/record_files.hpp"

namespace penstock::common {

/// Reads the text of one record after another. One thread at a time.
class RecordText {
 public:
  /// Number of bytes after a record's text that may be read, whatever they hold.
  static constexpr std::size_t slack = 64;

  /// Returns the record's text. `slack` bytes after it may be read. The text is valid until the next call, but only
  /// while this object and `files` exist. @throws Error(not_found | io). An error's offset counts from the record's
  /// beginning.
  std::string_view read(const RecordFiles& files, RecordFiles::Location location);

 private:
  char* buffer_for(std::size_t bytes);

  std::vector<char> buffer_;         // the record, unless it can be parsed in the map
  std::unique_ptr<InputFile> file_;  // without maps: the last file that was read
  std::size_t open_file_ = 0;
};

}  // namespace penstock::common
