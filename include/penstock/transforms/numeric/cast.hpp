// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// Converts the numbers of a field to a dtype; see `cast`. Immutable; any thread may use it.
class PENSTOCK_API Cast {
 public:
  /// Converts to `to`.
  explicit Cast(DType to) noexcept : to_(to) {}
  TensorType result(const TensorType& in) const { return {to_, in.shape}; }
  /// @throws Error(unsupported) if the dtype can't hold a value.
  void operator()(const TensorView& in, const TensorView& out) const;
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  DType to_;
};

/// Converts the numbers of a field, of any dtype and shape, to dtype `to`, for instance labels of u8 to i64.
/// The shape stays the same. Values are not scaled (`normalize` scales values).
///
/// - To f16, bf16, f32 and f64: the number becomes the nearest value, ties to even. A number that is too large becomes
///   infinite.
/// - To an integer: fractions are cut off. If the dtype can't hold the number (300 as u8, a NaN), the sample is a bad
///   sample: Error(unsupported), which names the number.
/// - To boolean: the result is true if the number is not 0. From boolean: false is 0, and true is 1.
///
/// If `to` is an integer dtype, the field keeps the names of its classes.
PENSTOCK_API Stage cast(std::string field, DType to);

}  // namespace penstock
