#pragma once

#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/image_stage_model.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_stage.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Executes every ImageOp on the CPU; the same bits on every CPU. Any thread; lives as long as the program.
///
/// A resample is an antialiased triangle filter, of half-width max(1, in / out) input pixels (what Pillow and
/// torchvision call bilinear with antialias): no value is more than 1 from the exact result rounded to 8 bits. Or, for
/// a mask, the pixel below the centre of the new one (what Pillow calls NEAREST). Images of 16 bits are cropped,
/// padded, flipped, turned and converted, but resampled by nearest only.
PENSTOCK_API const ImageExecutor& image_executor();

/// A user's own ImageStage as a stage on `fields`, each u8 or u16 [H, W, C] with 1 to 4 channels:
///
///     struct Tile {                                      // the upper left quarter, turned at random
///       struct Params { int quarters; };
///       Params draw(const ImageShape&, Rng& rng) const { return {static_cast<int>(rng.below(4))}; }
///       void compose(const Params& params, const ImageShape& shape, ImageOp& op) const {
///         op.crop({0, 0, shape.height / 2, shape.width / 2});
///         op.rot90(params.quarters);
///       }
///       Shape schema(const Shape& in) const { return {dynamic, dynamic, in[2]}; }
///       std::string name() const { return "tile"; }
///     };
///     pipeline | image_stage("image", Tile{})
///
/// It folds with its neighbours like the built-in ones, which are written the same way.
template <ImageStage S>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from; in a template the check does not see that
Stage image_stage(ImageFields fields, S stage) {
  if constexpr (detail::DrawsPlainParams<S>) {
    return detail::make_image_stage(std::move(fields), std::make_shared<detail::ImageStageOf<S>>(std::move(stage)),
                                    image_executor());
  } else {
    static_assert(detail::mistaken<S>,
                  "penstock: draw() of an image stage must return a trivially copyable struct of at most 64 bytes");
    return detail::make_image_stage(std::move(fields), nullptr, image_executor());
  }
}

/// What is no image stage: a compiler's error that says why.
template <class S>
Stage image_stage(ImageFields fields, S) {
  detail::explain_image_stage<S>();
  return detail::make_image_stage(std::move(fields), nullptr, image_executor());
}

}  // namespace penstock
