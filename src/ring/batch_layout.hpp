// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/schema.hpp>

#include "data/row_layout.hpp"
#include "ring/batch_info.hpp"

namespace penstock::detail::runtime {

/// Where the fields of a batch are in its memory: one field after the other, each with its rows side by side.
class BatchLayout {
 public:
  static constexpr std::size_t field_alignment = 256;

  /// `rows`: number of rows in a batch. @throws Error(limit_exceeded) if no memory could hold the rows.
  BatchLayout(const Schema& schema, std::uint64_t rows);

  std::uint64_t rows() const noexcept { return rows_; }
  std::size_t fields() const noexcept { return offsets_.size(); }
  const RowLayout& row() const noexcept { return row_; }
  /// Returns the bytes of a batch's rows at fixed addresses, with the alignment of each field.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the bytes of `batches` batches. @throws Error(limit_exceeded) if no memory could hold the batches; the
  /// error names `option`, which sets their number.
  std::size_t bytes_of_ring(std::size_t batches, const char* option) const;
  std::size_t offset(std::size_t field) const noexcept { return offsets_[field]; }
  /// Returns the bytes that a BatchInfo needs per row.
  std::size_t row_notes_bytes() const noexcept;
  std::byte* address(std::byte* batch, std::size_t field, std::uint64_t row) const noexcept {
    return batch + offsets_[field] + row * row_[field].row_bytes;
  }

  /// Makes room in `info` for `rows()` rows.
  void prepare(BatchInfo& info) const;
  /// Notes address and shape of a row of a field. The field must not be dense.
  void note(BatchInfo& info, std::size_t field, std::uint64_t row, std::byte* data, const Shape& shape) const noexcept;
  std::span<const RaggedRow> varying_rows(const BatchInfo& info, std::size_t field) const noexcept {
    return std::span(info.varying).subspan(row_[field].varying * rows_, info.rows);
  }
  std::span<const std::int64_t> lengths(const BatchInfo& info, std::size_t field) const noexcept {
    return std::span(info.lengths).subspan(row_[field].varying * rows_, info.rows);
  }
  const PaddedRows& padded(const BatchInfo& info, std::size_t field) const noexcept {
    return info.padded[row_[field].varying];
  }
  /// Returns the bytes of a batch's delivered rows.
  std::uint64_t bytes_of(const BatchInfo& info) const noexcept;
  /// Returns the bytes of one field's values; 0 if the field's rows have fixed addresses.
  std::uint64_t appended_bytes_of(const BatchInfo& info, std::size_t field) const noexcept;

 private:
  std::uint64_t rows_;
  RowLayout row_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
