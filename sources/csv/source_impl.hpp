// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/csv.hpp>

#include "column_plan.hpp"
#include "input_file.hpp"
#include "record_index.hpp"

namespace penstock {

/// State that a source and its readers share. Immutable.
class CsvSource::Impl {
 public:
  explicit Impl(Csv csv);

  class RecordText;

  /// Where a record is.
  struct Location {
    std::size_t file = 0;
    std::uint64_t record = 0;  ///< number of the record in its file
  };
  std::uint64_t size() const noexcept { return first.back(); }
  /// Returns where record `index` is. @throws Error(not_found) if there is no such record.
  Location location_of(std::uint64_t index) const;
  /// Returns "file:line".
  std::string location_name(Location location) const;
  /// Returns the location as a key: "file:line", with leading zeros in the line number.
  std::string location_key(Location location) const;
  std::string key(std::uint64_t index) const;

  /// Returns `error`, which reading the record caused, with everything that is known about the record's location.
  Error error_of(Location location, std::uint64_t index, const Error& error) const;

  Csv options;
  std::vector<std::string> files;
  std::vector<std::string> names;  ///< the name of each file in keys and errors
  std::vector<char> delimiters;    ///< delimiter of each file
  std::vector<csv::RecordIndex> indices;
  csv::ColumnPlan plan;
  std::vector<csv::TableMap> maps;  ///< empty with `FileAccess::read`
  /// Index of each file's first record; the last entry is the number of all records.
  std::vector<std::uint64_t> first{0};
  csv::MissingNumbers missing;
  std::uint64_t identity = 0;
  std::uint64_t revision = 0;

 private:
  void name_files();
  void identify();
};

}  // namespace penstock
