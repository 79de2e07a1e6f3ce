#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <penstock/dtype.hpp>
#include <penstock/export.hpp>
#include <penstock/shape.hpp>

namespace penstock {

namespace detail {
/// Throws Error(schema_mismatch) saying what was asked and what is there.
[[noreturn]] PENSTOCK_API void throw_view_mismatch(DType asked, std::size_t asked_rank, DType have, const Shape& shape);
/// Of a field of a batch.
[[noreturn]] PENSTOCK_API void throw_field_mismatch(std::string_view field, DType asked, std::size_t asked_rank,
                                                    DType have, const Shape& shape);
}  // namespace detail

/// Typed access to contiguous, row-major elements: `v(i, j, k)`, `for (float& x : v)`. Owns nothing; valid as long as
/// the sample or batch it came from. `View<const T, R>` reads, `View<T, R>` writes. Indices are not checked.
template <class T, std::size_t R>
class View {
 public:
  View() = default;
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

  static constexpr std::size_t rank() noexcept { return R; }
  std::int64_t extent(std::size_t axis) const noexcept { return extents_[axis]; }
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept {
    std::size_t n = 1;
    for (auto e : extents_) n *= static_cast<std::size_t>(e);
    return n;
  }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size(); }
  std::span<T> flat() const noexcept { return {data_, size()}; }
  Shape shape() const { return Shape(std::span<const std::int64_t>(extents_)); }

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
  std::byte* data = nullptr;
  DType dtype = DType::u8;
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

}  // namespace penstock
