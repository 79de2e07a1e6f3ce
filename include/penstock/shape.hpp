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

/// Up to 8 dimensions, outermost first, each a count of elements or `dynamic`. A plain value; an empty shape is a
/// scalar.
class PENSTOCK_API Shape {
 public:
  /// Dimensions that a shape may have.
  static constexpr std::size_t max_rank = 8;

  constexpr Shape() = default;
  /// @throws Error(invalid_argument) for more than 8 dimensions, or one below -1.
  Shape(std::initializer_list<std::int64_t> dims);
  /// @throws Error(invalid_argument) for more than 8 dimensions, or one below -1.
  explicit Shape(std::span<const std::int64_t> dims);

  /// Number of dimensions.
  std::size_t rank() const noexcept { return rank_; }
  /// Size of one dimension, which must be below `rank()`.
  std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  /// Size of one dimension, to change it; `axis` must be below `rank()`.
  std::int64_t& operator[](std::size_t axis) noexcept { return dims_[axis]; }
  /// All dimensions, the outermost first.
  std::span<const std::int64_t> dims() const noexcept { return {dims_.data(), rank_}; }

  /// True when no dimension is `dynamic`.
  bool fixed() const noexcept;
  /// Product of the dimensions; 1 for a scalar. Times the size of any dtype it still fits 64 bits.
  /// @throws Error(limit_exceeded) above 2^60, and Error(schema_mismatch) when a dimension is `dynamic`.
  std::uint64_t elements() const;
  /// True when `other` has the same rank, and the same size wherever this shape is not `dynamic`.
  bool admits(const Shape& other) const noexcept;
  /// "[224, 224, 3]"; a dynamic dimension prints as "?".
  std::string to_string() const;

  friend PENSTOCK_API bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  std::size_t rank_ = 0;
  std::array<std::int64_t, max_rank> dims_{};
};

}  // namespace penstock
