// A picture of either kind, by its first bytes.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/decode_image.hpp>

#include <cstdint>
#include <vector>

#include "say.hpp"

namespace ps = penstock;

int main() {
  // One grey pixel of 200.
  const std::vector<std::uint8_t> file = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0,    0,    0,    0x0d, 0x49, 0x48, 0x44, 0x52, 0,
      0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,    0,    0x3a, 0x7e, 0x9b, 0x55, 0,
      0,    0,    0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x38, 1,    0,    0,    0xca, 0,    0xc9,
      0x34, 0x42, 0x27, 0xf3, 0,    0,    0,    0,    0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
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
