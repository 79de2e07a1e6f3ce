// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_layout.hpp"

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
