// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/rot90.hpp>

namespace penstock {

Rot90::Params Rot90::draw(const ImageShape&, Rng&) const { return {}; }

void Rot90::compose(const Params&, const ImageShape&, ImageOp& op) const { op.rot90(quarters_); }

Shape Rot90::schema(const Shape& in) const {
  if (quarters_ % 2 == 0) return in;
  return {in[1], in[0], in[2]};
}

std::string Rot90::describe() const { return std::to_string(quarters_); }

RandomRot90::Params RandomRot90::draw(const ImageShape&, Rng& rng) const { return {static_cast<int>(rng.below(4))}; }

void RandomRot90::compose(const Params& params, const ImageShape&, ImageOp& op) const { op.rot90(params.quarters); }

Shape RandomRot90::schema(const Shape& in) const {
  if (in[0] == in[1]) return in;
  return {dynamic, dynamic, in[2]};
}

Stage rot90(ImageFields fields, int quarters) { return image_stage(std::move(fields), Rot90(quarters)); }
Stage random_rot90(ImageFields fields) { return image_stage(std::move(fields), RandomRot90()); }

}  // namespace penstock
