#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock::files {

/// What a CSV file of labels says.
struct Labels {
  struct Row {
    std::string file;  ///< below the root, normal form
    std::int64_t label = 0;
    std::size_t line = 0;
  };
  std::vector<Row> rows;
  std::vector<std::string> classes;  ///< empty where labels are numbers
  std::size_t mixed_line = 0;        ///< FilesSource::mixed_labels_line
};

/// True for a file that is there, below the root.
using IsFile = std::function<bool(const std::string& path)>;

/// Only the file of the first line is looked for, which may be a heading. @throws Error(not_found | io | corrupt |
/// invalid_argument) with the file's name.
Labels read_labels(const std::string& csv_file, const IsFile& is_file);

}  // namespace penstock::files
