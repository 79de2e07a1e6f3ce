// SPDX-License-Identifier: Apache-2.0
// Numbers as another dtype.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/numeric.hpp>

#include <cstdint>

#include "say.hpp"

namespace ps = penstock;

int main() {
  ps::Memory three;
  three.add<std::uint8_t>("label", {}, {7, 8, 9});
  bool right = false;
  ps::Loader loader(ps::from(three) | ps::cast("label", ps::DType::f32) | ps::batch(3));
  for (ps::Batch& batch : loader.epoch()) right = batch.view<float, 1>("label")(2) == 9;
  return say("three numbers as floats", right);
}
