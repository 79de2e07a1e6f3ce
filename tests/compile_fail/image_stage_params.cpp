// SPDX-License-Identifier: Apache-2.0
// expect: draw() of an image stage must return a trivially copyable struct of at most 64 bytes
#include <penstock/extend/image_stage.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>
#include <string>
namespace ps = penstock;
struct Stage {
  struct Params {
#ifdef BROKEN
    std::string text;
#else
    int number = 0;
#endif
  };
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp&) const {}
};
ps::Stage s() { return ps::image_stage("image", Stage{}); }
