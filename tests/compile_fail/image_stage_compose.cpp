// SPDX-License-Identifier: Apache-2.0
// expect: this image stage lacks, or has with another signature, `void compose(const Params& params, const ImageShape& shape, ImageOp& op) const`
#include <penstock/extend/image_stage.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>
namespace ps = penstock;
struct Stage {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
#ifdef BROKEN
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp&) {}
#else
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp&) const {}
#endif
};
ps::Stage s() { return ps::image_stage("image", Stage{}); }
