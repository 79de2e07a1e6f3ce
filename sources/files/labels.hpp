// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock::files {

/// The contents of a CSV file of labels.
struct Labels {
  struct Row {
    std::string file;  ///< relative to the root, in normal form
    std::int64_t label = 0;
    std::size_t line = 0;
  };
  std::vector<Row> rows;
  std::vector<std::string> classes;  ///< empty if labels are numbers
  std::size_t mixed_line = 0;        ///< FilesSource::mixed_labels_line
};

/// Returns whether a file exists below the root.
using IsFile = std::function<bool(const std::string& path)>;

/// Reads the labels. Calls `is_file` only for the first line, which may be a heading, and for lines that seem to have a
/// number with a comma.
/// @throws Error(not_found | io | corrupt | unsupported | limit_exceeded | invalid_argument) with the file's name.
Labels read_labels(const std::string& csv_file, const IsFile& is_file);

}  // namespace penstock::files
