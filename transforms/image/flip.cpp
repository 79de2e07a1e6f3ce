// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/flip.hpp>

#include "describe.hpp"

namespace penstock {

namespace {

void flip(Flip::Axis axis, ImageOp& op) {
  if (axis == Flip::Axis::horizontal) {
    op.flip_horizontal();
  } else {
    op.flip_vertical();
  }
}

}  // namespace

Flip::Params Flip::draw(const ImageShape&, Rng&) const { return {}; }

void Flip::compose(const Params&, const ImageShape&, ImageOp& op) const { flip(axis_, op); }

RandomFlip::RandomFlip(Axis axis, FlipOptions options) : axis_(axis), p_(options.p) {
  if (!(p_ >= 0 && p_ <= 1))
    throw Error(Errc::invalid_argument, name() + ": p = " + image::text(p_) + " is not 0 to 1");
}

RandomFlip::Params RandomFlip::draw(const ImageShape&, Rng& rng) const { return {rng.chance(p_)}; }

void RandomFlip::compose(const Params& params, const ImageShape&, ImageOp& op) const {
  if (params.flip) flip(axis_, op);
}

std::string RandomFlip::describe() const { return "p " + image::text(p_); }

Stage flip_horizontal(ImageFields fields) { return image_stage(std::move(fields), Flip(Flip::Axis::horizontal)); }
Stage flip_vertical(ImageFields fields) { return image_stage(std::move(fields), Flip(Flip::Axis::vertical)); }
Stage random_flip(ImageFields fields, FlipOptions options) {
  return image_stage(std::move(fields), RandomFlip(Flip::Axis::horizontal, options));
}
Stage random_flip_vertical(ImageFields fields, FlipOptions options) {
  return image_stage(std::move(fields), RandomFlip(Flip::Axis::vertical, options));
}

}  // namespace penstock
