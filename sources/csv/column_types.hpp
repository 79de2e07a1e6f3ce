// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/sources/csv.hpp>

#include "record_index.hpp"

namespace penstock::csv {

/// The opened files of a source, and which column of each file every column of the options is.
struct OpenedFiles {
  const std::vector<std::string>& files;
  const std::vector<char>& delimiters;
  const std::vector<RecordIndex>& indices;
  const std::vector<std::vector<std::size_t>>& places;  ///< by file, then by column of the options
};

/// Sets the types of automatic columns, and the classes of columns of classes that have none. Reads all records of the
/// files if there is such a column. Adds to `notes` what CsvSource::notes says. @throws the Errors of CsvSource.
void choose_types(const Csv& options, const OpenedFiles& opened, std::vector<CsvColumn>& columns,
                  std::vector<std::string>& notes);

}  // namespace penstock::csv
