// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

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
  /// Returns how many bytes a batch takes for fields whose rows have fixed addresses. Includes the fields' alignment.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns `batches` x `bytes()`. @throws Error(limit_exceeded) if no memory could hold the batches. The error asks
  /// to lower `option`, which sets the number of batches.
  std::size_t bytes_of_ring(std::size_t batches, const char* option) const;
  std::size_t offset(std::size_t field) const noexcept { return offsets_[field]; }
  /// Returns the bytes that a BatchInfo needs per row.
  std::size_t row_notes_bytes() const noexcept;
  std::byte* address(std::byte* batch, std::size_t field, std::uint64_t row) const noexcept {
    return batch + offsets_[field] + row * row_[field].row_bytes;
  }

  /// Makes room in `info` for `rows()` rows.
  void prepare(BatchInfo& info) const;
  /// Notes in `info` the address and the shape of a field's value in one row. The field must not be dense.
  void note(BatchInfo& info, std::size_t field, std::uint64_t row, std::byte* data, const Shape& shape) const noexcept;
  std::span<const RaggedRow> varying_rows(const BatchInfo& info, std::size_t field) const noexcept {
    return std::span(info.varying).subspan(row_[field].varying * rows_, info.rows);
  }
  std::span<const std::int64_t> lengths(const BatchInfo& info, std::size_t field) const noexcept {
    return std::span(info.lengths).subspan(row_[field].varying * rows_, info.rows);
  }
  const PaddedToLongest& padded(const BatchInfo& info, std::size_t field) const noexcept {
    return info.padded[row_[field].varying];
  }
  /// Fills a row with padding. `batch`: memory of the batch.
  void clear_row(BatchInfo& info, std::byte* batch, std::uint64_t row) const noexcept;

  // -- what callers see of a field; `of`: the field in the schema of a row --
  /// Returns the field, [N, ...]. @throws Error(unsupported) if the field is ragged.
  TensorView tensor(const BatchInfo& info, std::byte* batch, std::size_t field, const Field& of) const;
  /// Returns a ragged field, which refers to the name in `of`. @throws Error(unsupported) if the field is not ragged.
  RaggedRows ragged(const BatchInfo& info, std::size_t field, const Field& of) const;
  /// Returns the lengths of the field's rows. @throws Error(unsupported) if the field is neither ragged nor padded.
  std::span<const std::int64_t> lengths(const BatchInfo& info, std::size_t field, const Field& of) const;

  /// Returns the bytes of a batch's delivered rows.
  std::uint64_t bytes_of(const BatchInfo& info) const noexcept;
  /// Returns the bytes of one field's values in the batch; 0 if the field's rows have fixed addresses.
  std::uint64_t appended_bytes_of(const BatchInfo& info, std::size_t field) const noexcept;

 private:
  std::uint64_t rows_;
  RowLayout row_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
