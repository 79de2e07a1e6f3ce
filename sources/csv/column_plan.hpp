// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/csv.hpp>

#include "common/class_words.hpp"
#include "record_index.hpp"

namespace penstock::csv {

/// Where the cells of one column go.
struct Target {
  std::size_t column;   ///< column of the file
  std::size_t slot;     ///< slot of the schema
  std::size_t element;  ///< element of the field
  enum class Kind : std::uint8_t { number, text, word } kind;
  DType dtype;
};

/// Neighbouring columns that are read the same way.
struct ColumnRun {
  enum class Kind : std::uint8_t {
    skipped,
    numbers,  ///< neighbouring elements of one field, one target per column
    other     ///< one column that has several targets, or one target that is not a number
  };
  Kind kind;
  std::size_t columns;
  std::size_t target;   ///< index of the run's first target in `FilePlan::targets`
  std::size_t targets;  ///< number of the run's targets
};

/// How one file's columns are read.
struct FilePlan {
  std::vector<Target> targets;  ///< targets in the order of the file's columns
  std::vector<ColumnRun> runs;  ///< the file's columns, in order
  std::size_t key = 0;          ///< the column that `Csv::key` names
};

/// How the columns of all files are read.
struct ColumnPlan {
  Schema schema;
  std::vector<FilePlan> files;
  std::vector<common::ClassWords> words;  ///< by slot: numbers of the words of a column of classes
  std::vector<std::string> notes;  ///< sentences about columns of text that begin with numbers or have a decimal comma
};

/// Chooses the fields' names and types. Reads all records of the files if a type is automatic. @throws the Errors of
/// CsvSource.
ColumnPlan plan_columns(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                        const std::vector<RecordIndex>& indices);

/// Returns whether the cell stands for a missing number.
bool is_missing(const Csv& options, std::string_view cell);

/// `any`: a text of `Csv::missing_cells` is itself a number, like "nan" or "-999". `digits`: one of these numbers has
/// digits.
struct MissingNumbers {
  bool any = false, digits = false;
};
MissingNumbers missing_numbers(const Csv& options);

}  // namespace penstock::csv
