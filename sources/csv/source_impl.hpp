// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/csv.hpp>

#include "column_plan.hpp"
#include "common/lines/record_files.hpp"
#include "record_index.hpp"

namespace penstock {

/// State that a source and its readers share. Immutable.
class CsvSource::Impl {
 public:
  explicit Impl(Csv csv);

  std::string key(std::uint64_t index) const;

  Csv options;
  std::vector<std::string> files;
  std::vector<char> delimiters;  ///< delimiter of each file
  std::vector<csv::RecordIndex> indices;
  csv::ColumnPlan plan;
  common::RecordFiles records;
  csv::MissingNumbers missing;
  std::uint64_t identity = 0;

 private:
  void identify();
};

}  // namespace penstock
