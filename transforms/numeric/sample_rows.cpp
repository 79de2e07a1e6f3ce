// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/sample_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/map.hpp>

#include "with_element.hpp"

namespace penstock {

namespace {

Shape with_rows(const Shape& shape, std::int64_t rows) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.front() = rows;
  return Shape(std::span<const std::int64_t>(dims));
}

// Returns memory for a field's new value, of any dtype and rank.
std::byte* new_value(Sample& sample, const std::string& field, DType dtype, const Shape& shape) {
  std::byte* data = nullptr;
  numeric::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    [&]<std::size_t... R>(std::index_sequence<R...>) {
      ((shape.rank() == R + 1 ? void(data = reinterpret_cast<std::byte*>(sample.emplace<T, R + 1>(field, shape).data()))
                              : void()),
       ...);
    }
    (std::make_index_sequence<Shape::max_rank>());
  });
  return data;
}

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
  if (fields_.empty()) refuse("name the fields whose rows are drawn");
  if (rows == 0 || rows > std::uint64_t{1} << 62) refuse("at least one row has to be left, and at most 2^62");
  for (auto field = fields_.begin(); field != fields_.end(); ++field)
    if (std::find(fields_.begin(), field, *field) != field) refuse("field \"" + *field + "\" is named twice");
}

Schema SampleRows::schema(const Schema& in) const {
  std::vector<Field> fields(in.begin(), in.end());
  const auto limit = static_cast<std::int64_t>(rows_);
  std::optional<std::int64_t> known;
  for (const std::string& name : fields_) {
    Field& field = fields[in.slot(name)];
    if (field.shape.rank() == 0)
      throw Error(Errc::schema_mismatch, "field \"" + name + "\" is a scalar, which has no rows");
    const std::int64_t rows = field.shape[0];
    if (rows == dynamic) continue;
    if (known && *known != rows)
      throw Error(Errc::schema_mismatch, "field \"" + name + "\" has " + std::to_string(rows) + " rows, another one " +
                                             std::to_string(*known) + "; they must have as many");
    known = rows;
    field.shape = with_rows(field.shape, std::min(rows, limit));
  }
  return Schema(std::move(fields));
}

void SampleRows::operator()(Sample& sample, Context& context) const {
  std::vector<TensorView> values;
  for (const std::string& field : fields_) {
    values.push_back(sample.tensor(field));
    if (values.back().shape[0] != values.front().shape[0])
      throw Error(Errc::unsupported, "field \"" + field + "\" has " + std::to_string(values.back().shape[0]) +
                                         " rows, and \"" + fields_.front() + "\" has " +
                                         std::to_string(values.front().shape[0]));
  }
  const auto all = static_cast<std::size_t>(values.front().shape[0]);
  if (all <= rows_) return;
  const std::vector<std::size_t> rows = draw_rows(all, static_cast<std::size_t>(rows_), context.rng());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const TensorView& from = values[i];
    const std::size_t row_bytes = from.bytes() / all;
    std::byte* to = new_value(sample, fields_[i], from.dtype, with_rows(from.shape, static_cast<std::int64_t>(rows_)));
    if (row_bytes == 0) continue;
    for (const std::size_t row : rows) {
      std::memcpy(to, from.data + row * row_bytes, row_bytes);
      to += row_bytes;
    }
  }
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
