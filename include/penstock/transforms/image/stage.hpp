#pragma once

#include <utility>

#include <penstock/detail/export.hpp>
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
template <class S>
Stage image_stage(ImageFields fields, S stage) {
  return image_stage(std::move(fields), std::move(stage), image_executor());
}

}  // namespace penstock
