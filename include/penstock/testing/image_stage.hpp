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
  /// Shapes of the images that it is tried on, whose pixels are generated.
  std::vector<ImageShape> images = {{64, 48, 3}, {97, 131, 3}, {80, 80, 3}, {71, 90, 1}};
  std::uint64_t epochs = 2;  ///< at least 1: draws for each image and neighbour
  unsigned threads = 4;      ///< threads that draw and compose at once
  /// Some images may be an Error of one sample (unsupported); not all of one number of channels.
  bool allow_bad_images = false;
};

namespace detail {
using MakeImageStage = std::function<std::shared_ptr<const penstock::detail::ImageStageModel>()>;
PENSTOCK_API Report check_image_stage(const MakeImageStage& make, const ImageExecutor& executor,
                                      const ImageStageOptions& options);
}  // namespace detail

/// Holds an image stage to what `ImageStage` promises: parameters follow from shape and Rng alone, what is composed
/// from the parameters and the shape, on any thread; `schema` says the size and dtype that come out; folded with its
/// neighbours (crops, flips, turns, resizes, before and after it) it gives the bits that it gives when each stage is
/// executed alone; and an image and its mask see one draw. `executor` is `image_executor()`, or one of your own.
/// `make` gives the stage. Threads are started; nothing is thrown, but for what `make` throws the first time.
template <class Make>
  requires ImageStage<std::invoke_result_t<Make&>> Report check_image_stage(Make make, const ImageExecutor& executor,
                                                                            const ImageStageOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_image_stage(
        [shared] { return std::make_shared<penstock::detail::ImageStageOf<S>>((*shared)()); }, executor, options);
  }

}  // namespace penstock::testing
