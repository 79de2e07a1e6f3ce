// SPDX-License-Identifier: Apache-2.0
// A picture of WebP.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/decode_webp.hpp>

#include <cstdint>
#include <vector>

#include "say.hpp"

namespace ps = penstock;

int main() {
  // A lossless file of one pixel.
  const std::vector<std::uint8_t> file = {0x52, 0x49, 0x46, 0x46, 0x1e, 0x00, 0x00, 0x00, 0x57, 0x45, 0x42, 0x50, 0x56,
                                          0x50, 0x38, 0x4c, 0x11, 0x00, 0x00, 0x00, 0x2f, 0x00, 0x00, 0x00, 0x00, 0x07,
                                          0x50, 0xe4, 0x22, 0x17, 0xb9, 0xff, 0x81, 0x88, 0xe8, 0x7f, 0x00, 0x00};
  ps::Memory pictures;
  pictures.add<std::uint8_t>("image", {static_cast<std::int64_t>(file.size())}, file);
  bool right = false;
  ps::Loader loader(ps::from(pictures) | ps::decode_webp("image") | ps::ragged("image") | ps::batch(1));
  for (ps::Batch& batch : loader.epoch()) {
    const auto pixel = batch.ragged("image")[0];
    right = pixel.shape == ps::Shape{1, 1, 3} && static_cast<std::uint8_t>(pixel.data[2]) == 200;
  }
  return say("a pixel of WebP", right);
}
