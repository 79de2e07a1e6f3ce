// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/keep_rows.hpp>

#include <utility>

#include <penstock/error.hpp>

#include "kept_rows.hpp"

namespace penstock {

KeepRows::KeepRows(std::vector<std::string> fields, Predicate predicate, KeepRowsOptions options)
    : fields_(std::move(fields)), predicate_(std::move(predicate)), options_(std::move(options)) {
  numeric::check_row_fields(options_.name, fields_);
}

Schema KeepRows::schema(const Schema& in) const {
  static_cast<void>(numeric::known_rows(in, fields_));
  const Field& first = in.at(fields_.front());
  if (first.dtype != predicate_.dtype || first.shape.rank() != predicate_.rank + 1)
    throw Error(Errc::schema_mismatch,
                "field \"" + first.name + "\" is " + std::string(to_string(first.dtype)) + first.shape.to_string() +
                    ", but the function takes rows of " + std::string(to_string(predicate_.dtype)) + " with " +
                    std::to_string(predicate_.rank) + (predicate_.rank == 1 ? " dimension" : " dimensions"));
  std::vector<Field> fields(in.begin(), in.end());
  for (const std::string& name : fields_) {
    Shape& shape = fields[in.slot(name)].shape;
    shape = numeric::with_rows(shape, dynamic);
  }
  return Schema(std::move(fields));
}

void KeepRows::operator()(Sample& sample, Context&) const {
  const std::vector<TensorView> values = numeric::values_of(sample, fields_);
  const TensorView& first = values.front();
  const auto all = static_cast<std::size_t>(first.shape[0]);
  TensorView row{first.data, first.dtype, Shape(first.shape.dims().subspan(1))};
  const std::size_t row_bytes = row.bytes();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < all; ++i, row.data += row_bytes)
    if (predicate_.keeps(row)) kept.push_back(i);
  if (kept.size() != all) numeric::keep_rows_of(sample, fields_, values, kept);
}

std::string KeepRows::describe() const {
  std::string text = "rows of";
  for (const std::string& field : fields_) text += " " + field;
  return text;
}

}  // namespace penstock
