// SPDX-License-Identifier: Apache-2.0
// expect: an image stage is told its field: image_stage("image", stage)
#include <penstock/extend/image_stage.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>
namespace ps = penstock;
struct Stage {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp&) const {}
};
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return p | Stage{}; }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::image_stage("image", Stage{}); }
#endif
