// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Size of a dimension that differs from sample to sample.
inline constexpr std::int64_t dynamic = -1;

/// Up to 8 dimensions, outermost first. A dimension is a number of elements, or `dynamic`. A plain value. A scalar has
/// an empty shape.
class PENSTOCK_API Shape {
 public:
  /// Largest number of dimensions.
  static constexpr std::size_t max_rank = 8;

  constexpr Shape() = default;
  /// Makes a shape of these dimensions. @throws Error(invalid_argument) if there are more than 8, or one is below -1.
  Shape(std::initializer_list<std::int64_t> dims);
  /// Makes a shape of these dimensions. @throws Error(invalid_argument) if there are more than 8, or one is below -1.
  explicit Shape(std::span<const std::int64_t> dims);

  /// Number of dimensions.
  std::size_t rank() const noexcept { return rank_; }
  /// Size of dimension `axis`, which must be below `rank()`.
  std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  /// Size of dimension `axis`, to change it; `axis` must be below `rank()`.
  std::int64_t& operator[](std::size_t axis) noexcept { return dims_[axis]; }
  /// All dimensions, outermost first.
  std::span<const std::int64_t> dims() const noexcept { return {dims_.data(), rank_}; }

  /// True if no dimension is `dynamic`.
  bool fixed() const noexcept;
  /// Product of the dimensions; 1 for a scalar. For any dtype, the number of bytes of these elements fits 64 bits too.
  /// @throws Error(limit_exceeded) if the product is above 2^60; Error(schema_mismatch) if a dimension is `dynamic`.
  std::uint64_t elements() const;
  /// True if `other` has the same rank, and the same size in every dimension that is not `dynamic` here.
  bool admits(const Shape& other) const noexcept;
  /// Returns a text like "[224, 224, 3]". A dynamic dimension is printed as "?".
  std::string to_string() const;

  friend PENSTOCK_API bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  std::size_t rank_ = 0;
  std::array<std::int64_t, max_rank> dims_{};
};

}  // namespace penstock
