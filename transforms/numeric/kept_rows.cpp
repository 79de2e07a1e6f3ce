// SPDX-License-Identifier: Apache-2.0
#include "kept_rows.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <penstock/error.hpp>

#include "with_element.hpp"

namespace penstock::numeric {

namespace {

// Returns memory for a field's new value, of any dtype and rank.
std::byte* new_value(Sample& sample, const std::string& field, DType dtype, const Shape& shape) {
  std::byte* data = nullptr;
  with_element(dtype, [&]<class T>(std::type_identity<T>) {
    [&]<std::size_t... R>(std::index_sequence<R...>) {
      ((shape.rank() == R + 1 ? void(data = reinterpret_cast<std::byte*>(sample.emplace<T, R + 1>(field, shape).data()))
                              : void()),
       ...);
    }
    (std::make_index_sequence<Shape::max_rank>());
  });
  return data;
}

}  // namespace

Shape with_rows(const Shape& shape, std::int64_t rows) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.front() = rows;
  return Shape(std::span<const std::int64_t>(dims));
}

void check_row_fields(const std::string& stage, const std::vector<std::string>& fields) {
  const auto refuse = [&](const std::string& why) { throw Error(Errc::invalid_argument, why).with_stage(stage); };
  if (fields.empty()) refuse("name the fields whose rows are kept together");
  for (auto field = fields.begin(); field != fields.end(); ++field)
    if (std::find(fields.begin(), field, *field) != field) refuse("field \"" + *field + "\" is named twice");
}

std::optional<std::int64_t> known_rows(const Schema& schema, const std::vector<std::string>& fields) {
  std::optional<std::int64_t> known;
  for (const std::string& name : fields) {
    const Field& field = schema.at(name);
    if (field.shape.rank() == 0)
      throw Error(Errc::schema_mismatch, "field \"" + name + "\" is a scalar, which has no rows");
    const std::int64_t rows = field.shape[0];
    if (rows == dynamic) continue;
    if (known && *known != rows)
      throw Error(Errc::schema_mismatch, "field \"" + name + "\" has " + std::to_string(rows) + " rows, another one " +
                                             std::to_string(*known) + "; they must have as many");
    known = rows;
  }
  return known;
}

std::vector<TensorView> values_of(Sample& sample, const std::vector<std::string>& fields) {
  std::vector<TensorView> values;
  for (const std::string& field : fields) {
    values.push_back(sample.tensor(field));
    if (values.back().shape[0] != values.front().shape[0])
      throw Error(Errc::unsupported, "field \"" + field + "\" has " + std::to_string(values.back().shape[0]) +
                                         " rows, and \"" + fields.front() + "\" has " +
                                         std::to_string(values.front().shape[0]));
  }
  return values;
}

void keep_rows_of(Sample& sample, const std::vector<std::string>& fields, const std::vector<TensorView>& values,
                  const std::vector<std::size_t>& rows) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const TensorView& from = values[i];
    const auto all = static_cast<std::size_t>(from.shape[0]);
    const std::size_t row_bytes = all == 0 ? 0 : from.bytes() / all;
    std::byte* to =
        new_value(sample, fields[i], from.dtype, with_rows(from.shape, static_cast<std::int64_t>(rows.size())));
    if (row_bytes == 0) continue;
    for (const std::size_t row : rows) {
      std::memcpy(to, from.data + row * row_bytes, row_bytes);
      to += row_bytes;
    }
  }
}

}  // namespace penstock::numeric
