// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/sample_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/map.hpp>

#include "kept_rows.hpp"

namespace penstock {

namespace {

// Returns `count` different numbers below `n` in ascending order. Each set of numbers is equally likely (Floyd's
// algorithm; Bentley, Programming Pearls, 1987).
std::vector<std::size_t> draw_rows(std::size_t n, std::size_t count, Rng& rng) {
  std::vector<bool> drawn(n);
  for (std::size_t last = n - count; last < n; ++last) {
    const std::size_t row = rng.below(last + 1);
    drawn[drawn[row] ? last : row] = true;
  }
  std::vector<std::size_t> rows;
  rows.reserve(count);
  for (std::size_t row = 0; row < n; ++row)
    if (drawn[row]) rows.push_back(row);
  return rows;
}

}  // namespace

SampleRows::SampleRows(std::vector<std::string> fields, std::uint64_t rows) : fields_(std::move(fields)), rows_(rows) {
  const auto refuse = [](const std::string& why) {
    throw Error(Errc::invalid_argument, why).with_stage("sample_rows");
  };
  numeric::check_row_fields("sample_rows", fields_);
  if (rows == 0 || rows > std::uint64_t{1} << 62) refuse("at least one row has to be left, and at most 2^62");
}

Schema SampleRows::schema(const Schema& in) const {
  static_cast<void>(numeric::known_rows(in, fields_));
  std::vector<Field> fields(in.begin(), in.end());
  const auto limit = static_cast<std::int64_t>(rows_);
  for (const std::string& name : fields_) {
    Shape& shape = fields[in.slot(name)].shape;
    if (shape[0] != dynamic) shape = numeric::with_rows(shape, std::min(shape[0], limit));
  }
  return Schema(std::move(fields));
}

void SampleRows::operator()(Sample& sample, Context& context) const {
  const std::vector<TensorView> values = numeric::values_of(sample, fields_);
  const auto all = static_cast<std::size_t>(values.front().shape[0]);
  if (all <= rows_) return;
  numeric::keep_rows_of(sample, fields_, values, draw_rows(all, static_cast<std::size_t>(rows_), context.rng()));
}

std::string SampleRows::describe() const {
  std::string text = std::to_string(rows_) + " of";
  for (const std::string& field : fields_) text += " " + field;
  return text;
}

Stage sample_rows(std::vector<std::string> fields, std::uint64_t rows) {
  return map(SampleRows(std::move(fields), rows));
}

}  // namespace penstock
