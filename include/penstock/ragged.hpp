#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <penstock/export.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// Rows of differing sizes, one after the other in memory of their own. A plain value.
struct PackedRows {
  DType dtype = DType::u8;
  std::vector<std::byte> data;
  /// N + 1: row i has the elements [offsets[i], offsets[i + 1]) of `data`.
  std::vector<std::int64_t> offsets;

  /// All elements. @throws Error(schema_mismatch) when the dtype differs.
  template <class T>
  std::span<const T> elements() const {
    return TensorView{const_cast<std::byte*>(data.data()), dtype, Shape{offsets.empty() ? 0 : offsets.back()}}
        .template as<const T, 1>()
        .flat();
  }
};

/// A ragged field of a batch on a device: its rows one after the other, as a kernel wants them. Owns nothing: valid as
/// long as the batch is leased.
struct PackedTensor {
  TensorView data;     ///< all elements of all rows, [elements]
  TensorView offsets;  ///< i64 [N + 1]: row i has the elements [offsets[i], offsets[i + 1])
};

namespace detail {
/// One row whose size is its own.
struct RaggedRow {
  std::byte* data = nullptr;
  Shape shape;
};
}  // namespace detail

/// A ragged field of a batch: N rows, each of its own shape. Owns nothing: valid as long as the batch is leased. The
/// rows are yours to write to. Indices are not checked.
class PENSTOCK_API RaggedRows {
 public:
  RaggedRows(std::string_view field, DType dtype, std::span<const detail::RaggedRow> rows,
             std::span<const std::int64_t> lengths) noexcept
      : field_(field), dtype_(dtype), rows_(rows), lengths_(lengths) {}

  /// N. Rows of padding and masked rows count, and are empty: 0 in each dimension that varies.
  std::uint64_t size() const noexcept { return rows_.size(); }
  DType dtype() const noexcept { return dtype_; }
  /// One row, contiguous; on the host 64-byte aligned, on a device after the row before it.
  TensorView operator[](std::uint64_t row) const noexcept { return {rows_[row].data, dtype_, rows_[row].shape}; }
  /// @throws Error(schema_mismatch) when dtype or rank differ.
  template <class T, std::size_t R>
  View<T, R> view(std::uint64_t row) const {
    const TensorView tensor = (*this)[row];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field_, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// Size of each row's first dimension.
  std::span<const std::int64_t> lengths() const noexcept { return lengths_; }
  /// Of all rows together.
  std::size_t bytes() const;
  /// On the host alone: copies all rows, one after the other, to `out`. @throws Error(invalid_argument) unless that
  /// has `bytes()` bytes.
  void pack(std::span<std::byte> out) const;
  /// The same into memory of its own.
  PackedRows packed() const;

 private:
  std::string_view field_;  // the schema's
  DType dtype_;
  std::span<const detail::RaggedRow> rows_;
  std::span<const std::int64_t> lengths_;
};

}  // namespace penstock
