// SPDX-License-Identifier: Apache-2.0
// What stages share that keep some rows of several fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock::numeric {

// @throws Error(invalid_argument) if no field is named, or one twice.
void check_row_fields(const std::string& stage, const std::vector<std::string>& fields);

// Returns the number of rows that all records have; none if it varies. @throws Error(schema_mismatch) if a field is
// missing or a scalar, or fields have different fixed numbers of rows.
std::optional<std::int64_t> known_rows(const Schema& schema, const std::vector<std::string>& fields);

// Returns the shape with another number of rows.
Shape with_rows(const Shape& shape, std::int64_t rows);

// Returns the fields' values. @throws Error(unsupported) if they have different numbers of rows.
std::vector<TensorView> values_of(Sample& sample, const std::vector<std::string>& fields);

// Gives the fields these rows of `values`.
void keep_rows_of(Sample& sample, const std::vector<std::string>& fields, const std::vector<TensorView>& values,
                  const std::vector<std::size_t>& rows);

}  // namespace penstock::numeric
