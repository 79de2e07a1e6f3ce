#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/csv.hpp>

#include "record_index.hpp"

namespace penstock::csv {

/// Where the cells of one column go.
struct Target {
  std::size_t column;   ///< of the file
  std::size_t slot;     ///< of the schema
  std::size_t element;  ///< of the field
  bool text;
  DType dtype;
};

/// What becomes of the columns of all files.
struct ColumnPlan {
  Schema schema;
  std::vector<std::vector<Target>> targets;  ///< of each file, in the order of its columns
};

/// Settles names and types; goes through the files' records where types are automatic. @throws Error: see CsvSource.
ColumnPlan plan_columns(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                        const std::vector<RecordIndex>& indices);

/// True where the cell says that there is no number.
bool is_missing(const Csv& options, std::string_view cell);

}  // namespace penstock::csv
