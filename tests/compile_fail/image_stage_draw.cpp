// SPDX-License-Identifier: Apache-2.0
// expect: this image stage lacks, or has with another signature, `Params draw(const ImageShape& shape, Rng& rng) const`
#include <penstock/extend/image_stage.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>
namespace ps = penstock;
struct Stage {
  struct Params {};
#ifdef BROKEN
  Params draw(ps::Rng&) const { return {}; }
#else
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
#endif
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp&) const {}
};
ps::Stage s() { return ps::image_stage("image", Stage{}); }
