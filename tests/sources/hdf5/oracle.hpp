// SPDX-License-Identifier: Apache-2.0
// What H5Dread gives for each row of a dataset: the values that a source of HDF5 files must have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/extend/block_source.hpp>
#include <penstock/loader.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>

#include "sources/hdf5/files.hpp"

namespace penstock_test {

struct H5Value {
  penstock::Shape shape;
  std::string bytes;
};

// A field and its value in every record.
struct H5Column {
  penstock::Field field;
  std::vector<H5Value> rows;
};

// The fields that a dataset becomes when none are asked for, each read row by row with the native memory type.
std::vector<H5Column> columns_of(const std::string& file, const H5Data& data);
// Columns of all datasets of one file.
std::vector<H5Column> columns_of(const std::string& file, const std::vector<H5Data>& data);
// Adds the rows of another file with the same fields.
void append(std::vector<H5Column>& to, const std::vector<H5Column>& from);

// The first difference between a sample and the columns, or nothing.
std::string difference(const penstock::OwnedSample& sample, const std::vector<H5Column>& columns, std::uint64_t row);
// Between the schema and the columns' fields, in whatever order.
std::string difference(const penstock::Schema& schema, const std::vector<H5Column>& columns);
// Compares every row of a batch, by its indices.
std::string difference(const penstock::Batch& batch, const std::vector<H5Column>& columns);

// Schema and every record of a source.
template <class S>
std::string difference(const S& source, const std::vector<H5Column>& columns) {
  if (std::string text = difference(source.schema(), columns); !text.empty()) return text;
  const std::uint64_t rows = columns.front().rows.size();
  if (source.size() != rows) return "it has " + std::to_string(source.size()) + " of " + std::to_string(rows) + " rows";
  for (std::uint64_t row = 0; row < rows; ++row)
    if (std::string text = difference(penstock::read_sample(source, row), columns, row); !text.empty()) return text;
  return {};
}

}  // namespace penstock_test
