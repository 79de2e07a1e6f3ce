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

/// Columns beside each other, of which one thing becomes.
struct ColumnRun {
  enum class Kind : std::uint8_t {
    skipped,
    numbers,  ///< elements beside each other of one field, one target a column
    other     ///< one column, with whatever targets it has
  };
  Kind kind;
  std::size_t columns;
  std::size_t target;   ///< the first one of `targets`
  std::size_t targets;  ///< how many
};

/// What becomes of one file's columns.
struct FilePlan {
  std::vector<Target> targets;  ///< targets in the order of the file's columns
  std::vector<ColumnRun> runs;  ///< all columns
  std::size_t key = 0;          ///< the column that `Csv::key` names
};

/// What becomes of the columns of all files.
struct ColumnPlan {
  Schema schema;
  std::vector<FilePlan> files;
  std::vector<std::string> notes;  ///< on columns that are text for the sake of some cells
};

/// Settles names and types; goes through the files' records where types are automatic. @throws Error: see CsvSource.
ColumnPlan plan_columns(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                        const std::vector<RecordIndex>& indices);

/// True where the cell says that there is no number.
bool is_missing(const Csv& options, std::string_view cell);

/// Whether such a cell could be read as a number, and whether one of these has digits, which "nan" and "inf" have not.
struct MissingNumbers {
  bool any = false, digits = false;
};
MissingNumbers missing_numbers(const Csv& options);

}  // namespace penstock::csv
