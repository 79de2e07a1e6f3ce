// SPDX-License-Identifier: Apache-2.0
// A picture of either kind, by its first bytes.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/decode_image.hpp>

#include <cstdint>
#include <vector>

#include "pixel.hpp"
#include "say.hpp"

namespace ps = penstock;

int main() {
  const std::vector<std::uint8_t> file = png_of_a_pixel();
  ps::Memory pictures;
  pictures.add<std::uint8_t>("image", {static_cast<std::int64_t>(file.size())}, file);
  bool right = false;
  ps::Loader loader(ps::from(pictures) | ps::decode_image("image") | ps::ragged("image") | ps::batch(1));
  for (ps::Batch& batch : loader.epoch()) {
    const auto pixel = batch.ragged("image")[0];
    right = pixel.shape == ps::Shape{1, 1, 3} && static_cast<std::uint8_t>(pixel.data[2]) == 200;
  }
  return say("a pixel of PNG, known by its first bytes", right);
}
