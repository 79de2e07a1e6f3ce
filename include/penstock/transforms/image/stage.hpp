// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_stage.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Returns the library's executor, which carries out every ImageOp on the CPU, with the same bits on every CPU. Any
/// thread may use the executor, which lives as long as the program.
///
/// Images are resampled with an antialiased triangle filter. If an axis of `in` pixels becomes `out` pixels, the
/// filter's half-width on this axis is max(1, in / out) input pixels. Pillow and torchvision call this filter bilinear
/// with antialias. Each value differs by at most 1 from the exact result rounded to 8 bits. Masks are resampled by
/// nearest: each new pixel gets the value of the old pixel under its centre, like in Pillow's NEAREST. Images of 16
/// bits can be cropped, padded, flipped, turned and converted, but resampled only by nearest.
PENSTOCK_API const ImageExecutor& image_executor();

/// Makes a stage of a custom ImageStage. `fields`, each: u8 or u16 [H, W, C] with 1 to 4 channels. For instance:
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
/// The new stage folds with its neighbours like the built-in stages, which are written in the same way.
template <class S>
Stage image_stage(ImageFields fields, S stage) {
  return image_stage(std::move(fields), std::move(stage), image_executor());
}

}  // namespace penstock
