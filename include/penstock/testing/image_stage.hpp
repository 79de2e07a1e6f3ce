// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/image_stage.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_image_stage`.
struct ImageStageOptions {
  /// Shapes of the images that the stage is tried on, with generated pixels.
  std::vector<ImageShape> images = {{64, 48, 3}, {97, 131, 3}, {80, 80, 3}, {71, 90, 1}};
  std::uint64_t epochs = 2;  ///< number of tested epochs, each with one draw per image; must be at least 1
  unsigned threads = 4;      ///< threads that draw and compose at the same time
  /// Whether the stage may fail for some images, with an Error of one sample like Error(unsupported). If true, it must
  /// still succeed for at least one image of each number of channels.
  bool allow_bad_images = false;
};

namespace detail {
using MakeImageStage = std::function<std::shared_ptr<const penstock::detail::ImageStageModel>()>;
PENSTOCK_API Report check_image_stage(const MakeImageStage& make, const ImageExecutor& executor,
                                      const ImageStageOptions& options);
}  // namespace detail

/// Checks that an image stage keeps the promises of `ImageStage`, on any thread:
///
/// - `draw` depends only on the shape and the Rng, and `compose` only on the parameters and the shape;
/// - the result has the size and dtype of `schema`;
/// - folded with neighbouring stages before and after it (crops, flips, turns, resizes), the stage gives the same bits
///   as if each stage is executed separately;
/// - an image and its mask have the same draws.
///
/// `executor` is `image_executor()`, or a custom one. `make` returns the stage. Starts threads. Throws only what the
/// first call of `make` throws.
template <class Make>
  requires ImageStage<std::invoke_result_t<Make&>> Report check_image_stage(Make make, const ImageExecutor& executor,
                                                                            const ImageStageOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_image_stage(
        [shared] { return std::make_shared<penstock::detail::ImageStageOf<S>>((*shared)()); }, executor, options);
  }

}  // namespace penstock::testing
