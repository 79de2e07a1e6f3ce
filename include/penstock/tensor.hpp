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
/// Throws Error(schema_mismatch) saying what was asked and what is there.
[[noreturn]] PENSTOCK_API void throw_view_mismatch(DType asked, std::size_t asked_rank, DType have, const Shape& shape);
/// Throws Error(schema_mismatch) saying what was asked of a field of a batch, and what it is.
[[noreturn]] PENSTOCK_API void throw_field_mismatch(std::string_view field, DType asked, std::size_t asked_rank,
                                                    DType have, const Shape& shape);
}  // namespace detail

/// Typed access to contiguous, row-major elements: `v(i, j, k)`, `for (float& x : v)`. Owns nothing; valid as long as
/// the sample or batch it came from. `View<const T, R>` reads, `View<T, R>` writes. Indices are not checked.
template <class T, std::size_t R>
class View {
 public:
  View() = default;
  /// R dimensions of `shape`, from `data` on.
  View(T* data, const Shape& shape) : data_(data) {
    for (std::size_t i = 0; i < R; ++i) extents_[i] = shape[i];
  }
  /// A reading view of the same elements.
  operator View<const T, R>() const requires(!std::is_const_v<T>) {
    View<const T, R> v;
    v.data_ = data_;
    v.extents_ = extents_;
    return v;
  }

  /// Number of dimensions, R.
  static constexpr std::size_t rank() noexcept { return R; }
  /// Size of one dimension.
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
  /// Behind the last element.
  T* end() const noexcept { return data_ + size(); }
  /// All elements, one after the other.
  std::span<T> flat() const noexcept { return {data_, size()}; }
  /// All dimensions.
  Shape shape() const { return Shape(std::span<const std::int64_t>(extents_)); }

  /// The element at these indices, one a dimension. They are not checked.
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

/// Contiguous, row-major elements of a dtype known at run time. Owns nothing. `data` may be null when there are none.
struct TensorView {
  /// The first element.
  std::byte* data = nullptr;
  /// Type of the elements.
  DType dtype = DType::u8;
  /// All dimensions.
  Shape shape;

  /// Size in bytes. @throws as Shape::elements.
  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }

  /// @throws Error(schema_mismatch) when dtype or rank differ.
  template <class T, std::size_t R>
  View<T, R> as() const {
    if (dtype != dtype_of<T> || shape.rank() != R) detail::throw_view_mismatch(dtype_of<T>, R, dtype, shape);
    return View<T, R>(reinterpret_cast<T*>(data), shape);
  }
};

/// Rows of differing sizes, one after the other in memory of their own. A plain value.
struct PackedRows {
  /// Type of the elements.
  DType dtype = DType::u8;
  /// All rows' elements.
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
  /// For code of the library.
  RaggedRows(std::string_view field, DType dtype, std::span<const detail::RaggedRow> rows,
             std::span<const std::int64_t> lengths) noexcept
      : field_(field), dtype_(dtype), rows_(rows), lengths_(lengths) {}

  /// Number of rows, N. Rows of padding and masked rows count, and are empty: 0 in each dimension that varies.
  std::uint64_t size() const noexcept { return rows_.size(); }
  /// Type of the elements.
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
  /// Bytes of all rows together.
  std::size_t bytes() const;
  /// On the host alone: copies all rows, one after the other, to `out`. @throws Error(invalid_argument) unless that
  /// has `bytes()` bytes.
  void pack(std::span<std::byte> out) const;
  /// All rows, one after the other, in memory of their own, as `pack` copies them. On the host alone.
  PackedRows packed() const;

 private:
  std::string_view field_;  // the schema's
  DType dtype_;
  std::span<const detail::RaggedRow> rows_;
  std::span<const std::int64_t> lengths_;
};

}  // namespace penstock
