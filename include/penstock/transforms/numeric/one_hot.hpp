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
  DType dtype = DType::f32;  ///< result option: of the ones and zeros
};

/// Numbers of classes as rows of ones and zeros; see `one_hot`. Immutable; any thread.
class PENSTOCK_API OneHot {
 public:
  /// @throws Error(invalid_argument) for no class, or more than 2^24.
  OneHot(std::int64_t classes, const OneHotOptions& options);
  /// @throws Error(schema_mismatch) for what holds no integers, or has 8 dimensions already.
  TensorType result(const TensorType& in) const;
  /// @throws Error(unsupported) for a number that is none of a class.
  void operator()(const TensorView& in, const TensorView& out) const;
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  std::int64_t classes_;
  OneHotOptions options_;
};

/// Makes of each number in an integer field, c, `classes` numbers: a one at c, and zeros. A field of shape [...] gets
/// the shape [..., classes]: a label i64[] becomes f32[10], the labels of a text i64[?] become f32[?, 10].
/// A number below 0, or of no class, makes the sample a bad one, Error(unsupported), which names it.
/// @throws Error(invalid_argument) for no class, or more than 2^24.
PENSTOCK_API Stage one_hot(std::string field, std::int64_t classes, const OneHotOptions& options = {});

}  // namespace penstock
