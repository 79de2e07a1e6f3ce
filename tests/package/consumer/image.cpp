// SPDX-License-Identifier: Apache-2.0
// A picture made smaller.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include <cstdint>
#include <vector>

#include "say.hpp"

namespace ps = penstock;

int main() {
  ps::Memory pictures;
  pictures.add<std::uint8_t>("image", {8, 8, 3}, std::vector<std::uint8_t>(2 * 8 * 8 * 3, 200));
  bool right = false;
  ps::Loader loader(ps::from(pictures) | ps::resize("image", {4, 4}) | ps::batch(2));
  for (ps::Batch& batch : loader.epoch()) right = batch.view<std::uint8_t, 4>("image")(1, 3, 3, 2) == 200;
  return say("two pictures of one colour, made smaller", right);
}
