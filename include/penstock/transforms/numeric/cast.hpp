#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// Numbers of a field as another dtype; see `cast`. Immutable; any thread.
class PENSTOCK_API Cast {
 public:
  /// Converts to `to`.
  explicit Cast(DType to) noexcept : to_(to) {}
  TensorType result(const TensorType& in) const { return {to_, in.shape}; }
  /// @throws Error(unsupported) for a value that the dtype does not have.
  void operator()(const TensorView& in, const TensorView& out) const;
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  DType to_;
};

/// Makes the numbers of a field, of any dtype and shape, those of dtype `to`: labels of u8 become i64, doubles become
/// floats. Shape and meaning stay; it scales nothing (`normalize` does).
///
/// To f16, bf16, f32 and f64: the nearest value, ties to even; what is too large becomes infinite. To an integer:
/// fractions are cut off, and a number that it does not have (300 as u8, a NaN) makes the sample a bad one,
/// Error(unsupported), which names it. To boolean: whether it is not 0; from boolean: 0 and 1. Whole numbers other
/// than booleans stand for the same classes as before.
PENSTOCK_API Stage cast(std::string field, DType to);

}  // namespace penstock
