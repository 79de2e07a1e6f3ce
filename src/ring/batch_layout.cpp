// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_layout.hpp"

#include <array>
#include <limits>
#include <string>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

BatchLayout::BatchLayout(const Schema& schema, std::uint64_t rows) : rows_(rows), row_(schema) {
  offsets_.reserve(schema.size());
  for (std::size_t f = 0; f < schema.size(); ++f) {
    const std::size_t row_bytes = row_[f].row_bytes;
    if (row_bytes != 0 && rows > (std::numeric_limits<std::size_t>::max() / 4 - bytes_) / row_bytes)
      throw Error(Errc::limit_exceeded, "a batch of " + std::to_string(rows) + " rows of field \"" + schema[f].name +
                                            "\" does not fit any memory");
    offsets_.push_back(bytes_);
    bytes_ += static_cast<std::size_t>(row_bytes * rows);
    bytes_ = (bytes_ + field_alignment - 1) / field_alignment * field_alignment;
  }
}

std::size_t BatchLayout::bytes_of_ring(std::size_t batches, const char* option) const {
  if (bytes_ != 0 && batches > std::numeric_limits<std::size_t>::max() / 4 / bytes_)
    throw Error(Errc::limit_exceeded, std::to_string(batches) + " batches of " + std::to_string(bytes_) +
                                          " bytes do not fit any memory; lower `" + option + "` or the batch size");
  return bytes_ * batches;
}

std::size_t BatchLayout::row_notes_bytes() const noexcept {
  return sizeof(std::uint64_t) + sizeof(std::uint8_t) + row_.varying() * (sizeof(RaggedRow) + sizeof(std::int64_t));
}

void BatchLayout::prepare(BatchInfo& info) const {
  info.indices.resize(rows_);
  info.mask.resize(rows_);
  info.varying.resize(rows_ * row_.varying());
  info.lengths.resize(rows_ * row_.varying());
  info.padded.resize(row_.varying());
}

void BatchLayout::note(BatchInfo& info, std::size_t field, std::uint64_t row, std::byte* data,
                       const Shape& shape) const noexcept {
  const std::size_t at = row_[field].varying * rows_ + row;
  info.varying[at] = {data, shape};
  info.lengths[at] = shape[0];
}

void BatchLayout::clear_row(BatchInfo& info, std::byte* batch, std::uint64_t row) const noexcept {
  alignas(64) static std::byte nothing{};
  for (std::size_t f = 0; f < fields(); ++f) {
    const RowField& field = row_[f];
    std::byte* const out = field.appended() ? &nothing : address(batch, f, row);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) note(info, f, row, out, field.empty);
  }
}

TensorView BatchLayout::tensor(const BatchInfo& info, std::byte* batch, std::size_t field, const Field& of) const {
  std::array<std::int64_t, Shape::max_rank + 1> dims{};
  dims[0] = static_cast<std::int64_t>(info.rows);
  for (std::size_t i = 0; i < of.shape.rank(); ++i) dims[i + 1] = of.shape[i];
  std::byte* data = nullptr;
  switch (row_[field].kind) {
    case RowField::Kind::ragged:
      throw Error(Errc::unsupported, "the rows of field \"" + of.name +
                                         "\" are of differing sizes and no one tensor; use batch.ragged(field)");
    case RowField::Kind::longest:
      data = padded(info, field).data;
      dims[1] = padded(info, field).longest;
      break;
    case RowField::Kind::padded:
      dims[1] = row_[field].to;
      [[fallthrough]];
    case RowField::Kind::dense:
      data = address(batch, field, 0);
  }
  return {data, of.dtype, Shape(std::span<const std::int64_t>(dims.data(), of.shape.rank() + 1))};
}

RaggedRows BatchLayout::ragged(const BatchInfo& info, std::size_t field, const Field& of) const {
  if (row_[field].kind != RowField::Kind::ragged)
    throw Error(Errc::unsupported, "field \"" + of.name + "\" is not ragged; batch[field] is all of its rows");
  return {of.name, of.dtype, varying_rows(info, field), lengths(info, field)};
}

std::span<const std::int64_t> BatchLayout::lengths(const BatchInfo& info, std::size_t field, const Field& of) const {
  if (row_[field].kind == RowField::Kind::dense)
    throw Error(Errc::unsupported,
                "field \"" + of.name + "\" is neither ragged nor padded: its rows are all " + of.shape.to_string());
  return lengths(info, field);
}

std::uint64_t BatchLayout::bytes_of(const BatchInfo& info) const noexcept {
  std::uint64_t bytes = info.rows * row_.row_bytes();
  if (!row_.appends()) return bytes;
  for (std::size_t f = 0; f < offsets_.size(); ++f) bytes += appended_bytes_of(info, f);
  return bytes;
}

std::uint64_t BatchLayout::appended_bytes_of(const BatchInfo& info, std::size_t field) const noexcept {
  const RowField& how = row_[field];
  std::uint64_t bytes = 0;
  if (how.kind == RowField::Kind::longest)
    bytes = info.rows * static_cast<std::uint64_t>(padded(info, field).longest) * how.unit;
  if (how.kind == RowField::Kind::ragged)
    for (const RaggedRow& row : varying_rows(info, field)) bytes += row_bytes_of(row, how.element);
  return bytes;
}

}  // namespace penstock::detail::runtime
