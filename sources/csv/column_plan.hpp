// SPDX-License-Identifier: Apache-2.0
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
  std::size_t column;   ///< column of the file
  std::size_t slot;     ///< slot of the schema
  std::size_t element;  ///< element of the field
  bool text;
  DType dtype;
};

/// Neighbouring columns that are read the same way.
struct ColumnRun {
  enum class Kind : std::uint8_t {
    skipped,
    numbers,  ///< neighbouring elements of one field, one target per column
    other     ///< one column, with any targets
  };
  Kind kind;
  std::size_t columns;
  std::size_t target;   ///< the first one of `targets`
  std::size_t targets;  ///< how many targets
};

/// How one file's columns are read.
struct FilePlan {
  std::vector<Target> targets;  ///< targets in the order of the file's columns
  std::vector<ColumnRun> runs;  ///< all columns
  std::size_t key = 0;          ///< the column that `Csv::key` names
};

/// How the columns of all files are read.
struct ColumnPlan {
  Schema schema;
  std::vector<FilePlan> files;
  std::vector<std::string> notes;  ///< about columns that are text because of a few cells
};

/// Settles names and types; goes through the files' records if types are automatic. @throws Error: see CsvSource.
ColumnPlan plan_columns(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                        const std::vector<RecordIndex>& indices);

/// Returns whether the cell stands for a missing number.
bool is_missing(const Csv& options, std::string_view cell);

/// Whether the texts for missing numbers could be read as numbers, and whether such a text has digits, unlike "nan" and
/// "inf".
struct MissingNumbers {
  bool any = false, digits = false;
};
MissingNumbers missing_numbers(const Csv& options);

}  // namespace penstock::csv
