// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock::detail {

/// How the rows of one field are laid out in a batch.
struct RowField {
  enum class Kind : std::uint8_t {
    dense,    ///< all rows have the same size and are at fixed addresses
    padded,   ///< rows are padded to a fixed size and are at fixed addresses
    longest,  ///< rows are appended; once the batch is complete, they are padded to the longest row
    ragged,   ///< rows are appended, each with its own size
  };
  Kind kind = Kind::dense;
  std::size_t row_bytes = 0;  ///< bytes of a row in a batch, at a fixed address; 0 if rows are appended
  std::size_t element = 1;    ///< bytes of one element
  std::size_t unit = 0;       ///< bytes of a row per element of the first dimension; 0 if another dimension is dynamic
  std::int64_t to = 0;        ///< for padded fields: elements of the first dimension after padding
  std::size_t varying = 0;    ///< the field's number among the fields that are not dense
  std::array<std::byte, 8> value{};  ///< one element of padding
  Shape empty;                       ///< shape of an empty row; not used for dense fields

  bool appended() const noexcept { return kind == Kind::longest || kind == Kind::ragged; }
};

/// Returns the bytes of a row without padding. Returns 2^64 - 1 if that number does not fit into 64 bits.
std::uint64_t row_bytes_of(const RaggedRow& row, std::size_t element) noexcept;

/// The layout of all fields of a row in a batch.
class RowLayout {
 public:
  /// @throws Error(limit_exceeded) if a row does not fit into any memory; and like `element_of` for a padding value.
  explicit RowLayout(const Schema& schema);

  std::span<const RowField> fields() const noexcept { return fields_; }
  const RowField& operator[](std::size_t field) const noexcept { return fields_[field]; }
  /// Returns the number of fields that are not dense.
  std::size_t varying() const noexcept { return varying_; }
  bool appends() const noexcept { return appends_; }
  /// Returns the bytes that all fields at fixed addresses need per row, without gaps for alignment.
  std::uint64_t row_bytes() const noexcept { return row_bytes_; }

 private:
  std::vector<RowField> fields_;
  std::size_t varying_ = 0;
  bool appends_ = false;
  std::uint64_t row_bytes_ = 0;
};

/// Checks that the field's shape fits its collation. @throws Error(schema_mismatch) if not.
void check_collate(const Field& field);
/// Returns the bytes of one element with this value. @throws Error(invalid_argument) if the dtype can't represent the
/// value exactly.
std::array<std::byte, 8> element_of(DType dtype, double value);
/// Writes `bytes` bytes of padding to `out`. `bytes` must be a multiple of the field's element size.
void fill_padding(const RowField& field, std::byte* out, std::size_t bytes) noexcept;

/// Gives memory for a sample's values of the fields whose size differs from sample to sample. One thread at a time uses
/// it.
class RowOutlet {
 public:
  virtual ~RowOutlet() = default;
  /// Returns memory for a row. @throws Error.
  virtual std::byte* append(std::size_t bytes) = 0;
};

}  // namespace penstock::detail
