// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>

namespace penstock {

namespace detail {
/// Throws Error(schema_mismatch) that names the requested and the actual type.
[[noreturn]] PENSTOCK_API void throw_view_mismatch(DType asked, std::size_t asked_rank, DType have, const Shape& shape);
/// Throws Error(schema_mismatch) that names a batch's field, the requested and the actual type.
[[noreturn]] PENSTOCK_API void throw_field_mismatch(std::string_view field, DType asked, std::size_t asked_rank,
                                                    DType have, const Shape& shape);
}  // namespace detail

/// Typed access to contiguous, row-major elements: `v(i, j, k)`, `for (float& x : v)`. Owns nothing; valid as long as
/// the sample or batch that it came from. `View<const T, R>` only reads; `View<T, R>` can write. Indices are not
/// checked.
template <class T, std::size_t R>
class View {
 public:
  View() = default;
  /// Makes a view of the elements from `data` on. Uses the first R dimensions of `shape`.
  View(T* data, const Shape& shape) : data_(data) {
    for (std::size_t i = 0; i < R; ++i) extents_[i] = shape[i];
  }
  /// Converts to a read-only view of the same elements.
  operator View<const T, R>() const requires(!std::is_const_v<T>) {
    View<const T, R> v;
    v.data_ = data_;
    v.extents_ = extents_;
    return v;
  }

  /// Number of dimensions, R.
  static constexpr std::size_t rank() noexcept { return R; }
  /// Size of dimension `axis`.
  std::int64_t extent(std::size_t axis) const noexcept { return extents_[axis]; }
  /// The first element.
  T* data() const noexcept { return data_; }
  /// Number of elements.
  std::size_t size() const noexcept {
    std::size_t n = 1;
    for (auto e : extents_) n *= static_cast<std::size_t>(e);
    return n;
  }
  /// The first element.
  T* begin() const noexcept { return data_; }
  /// Past the last element.
  T* end() const noexcept { return data_ + size(); }
  /// All elements, one after the other.
  std::span<T> flat() const noexcept { return {data_, size()}; }
  /// All dimensions.
  Shape shape() const { return Shape(std::span<const std::int64_t>(extents_)); }

  /// The element at these indices, one per dimension. Indices are not checked.
  template <class... I>
    requires(sizeof...(I) == R)
  T& operator()(I... index) const noexcept {
    const std::array<std::int64_t, R> at{static_cast<std::int64_t>(index)...};
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < R; ++i) offset = offset * extents_[i] + at[i];
    return data_[offset];
  }

 private:
  template <class, std::size_t>
  friend class View;
  T* data_ = nullptr;
  std::array<std::int64_t, R> extents_{};
};

/// Contiguous, row-major elements of a dtype that is known only at run time. Owns nothing. `data` may be null if the
/// tensor has no elements.
struct TensorView {
  /// The first element.
  std::byte* data = nullptr;
  /// Type of the elements.
  DType dtype = DType::u8;
  /// All dimensions.
  Shape shape;

  /// Size in bytes. @throws what `Shape::elements` throws.
  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }

  /// Returns a typed view of the elements. @throws Error(schema_mismatch) if dtype or rank differ.
  template <class T, std::size_t R>
  View<T, R> as() const {
    if (dtype != dtype_of<T> || shape.rank() != R) detail::throw_view_mismatch(dtype_of<T>, R, dtype, shape);
    return View<T, R>(reinterpret_cast<T*>(data), shape);
  }
};

/// Rows of differing sizes, one after the other. Owns its memory. A plain value.
struct PackedRows {
  /// Type of the elements.
  DType dtype = DType::u8;
  /// All rows' elements.
  std::vector<std::byte> data;
  /// N + 1 numbers: row i has the elements [offsets[i], offsets[i + 1]) of `data`.
  std::vector<std::int64_t> offsets;

  /// All elements. @throws Error(schema_mismatch) if the dtype differs.
  template <class T>
  std::span<const T> elements() const {
    return TensorView{const_cast<std::byte*>(data.data()), dtype, Shape{offsets.empty() ? 0 : offsets.back()}}
        .template as<const T, 1>()
        .flat();
  }
};

/// A ragged field of a batch on a device: its rows, one after the other, as a kernel needs them. Owns nothing; valid as
/// long as the batch is leased.
struct PackedTensor {
  TensorView data;     ///< all elements of all rows, [elements]
  TensorView offsets;  ///< i64 [N + 1]: row i has the elements [offsets[i], offsets[i + 1])
};

namespace detail {
/// One row of a ragged field.
struct RaggedRow {
  std::byte* data = nullptr;
  Shape shape;
};
}  // namespace detail

/// A ragged field of a batch: N rows, and each has its own shape. Owns nothing; valid as long as the batch is leased.
/// The caller may write to the rows. Indices are not checked.
class PENSTOCK_API RaggedRows {
 public:
  /// For code of the library only.
  RaggedRows(std::string_view field, DType dtype, std::span<const detail::RaggedRow> rows,
             std::span<const std::int64_t> lengths) noexcept
      : field_(field), dtype_(dtype), rows_(rows), lengths_(lengths) {}

  /// Number of rows, N. Rows that `Tail::pad` adds, and masked rows, count too. They have no elements: their first
  /// dimension, and each other dimension that varies, is 0.
  std::uint64_t size() const noexcept { return rows_.size(); }
  /// Type of the elements.
  DType dtype() const noexcept { return dtype_; }
  /// One row, contiguous. On the host it is 64-byte aligned; on a device it follows the row before it.
  TensorView operator[](std::uint64_t row) const noexcept { return {rows_[row].data, dtype_, rows_[row].shape}; }
  /// Returns a typed view of one row. @throws Error(schema_mismatch) if dtype or rank differ.
  template <class T, std::size_t R>
  View<T, R> view(std::uint64_t row) const {
    const TensorView tensor = (*this)[row];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field_, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// Size of each row's first dimension.
  std::span<const std::int64_t> lengths() const noexcept { return lengths_; }
  /// Bytes of all rows together.
  std::size_t bytes() const;
  /// Copies all rows, one after the other, to `out`. On the host only.
  /// @throws Error(invalid_argument) if `out` does not have exactly `bytes()` bytes.
  void pack(std::span<std::byte> out) const;
  /// Returns a copy of all rows, one after the other, like `pack`. On the host only.
  PackedRows packed() const;

 private:
  std::string_view field_;  // refers to the name in the schema
  DType dtype_;
  std::span<const detail::RaggedRow> rows_;
  std::span<const std::int64_t> lengths_;
};

}  // namespace penstock
