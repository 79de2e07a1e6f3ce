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

/// Settings of `one_hot`.
struct OneHotOptions {
  DType dtype = DType::f32;  ///< result option: dtype of the ones and zeros
};

/// Turns numbers of classes into rows of ones and zeros; see `one_hot`. Immutable; any thread may use it.
class PENSTOCK_API OneHot {
 public:
  /// @throws Error(invalid_argument) if `classes` is not 1 to 2^24.
  OneHot(std::int64_t classes, const OneHotOptions& options);
  /// @throws Error(schema_mismatch) if the field does not hold integers, or has 8 dimensions already.
  TensorType result(const TensorType& in) const;
  /// @throws Error(unsupported) if a number is not the number of a class.
  void operator()(const TensorView& in, const TensorView& out) const;
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  std::int64_t classes_;
  OneHotOptions options_;
};

/// Replaces each number c of an integer field by a row of `classes` numbers: a one at index c, and zeros. The shape
/// [...] becomes [..., classes]. With 10 classes, a label i64[] becomes f32[10], and the labels of a text i64[?] become
/// f32[?, 10]. If a number is not 0 to `classes` - 1, the sample is a bad sample: Error(unsupported), which names the
/// number.
/// @throws Error(invalid_argument) if `classes` is not 1 to 2^24.
PENSTOCK_API Stage one_hot(std::string field, std::int64_t classes, const OneHotOptions& options = {});

}  // namespace penstock
