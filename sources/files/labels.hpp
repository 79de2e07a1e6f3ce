#pragma once

#include <cstdint>
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

/// Whether the files exist is not looked at. @throws Error(not_found | io | corrupt | invalid_argument) with the file's
/// name.
Labels read_labels(const std::string& csv_file);

}  // namespace penstock::files
