// SPDX-License-Identifier: Apache-2.0
// A picture through JPEG and back.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include <cstdint>
#include <vector>

#include "say.hpp"

namespace ps = penstock;

int main() {
  const std::vector<std::uint8_t> gray(std::size_t{16} * 16 * 3, 128);
  const auto bytes = ps::encode_jpeg({gray.data(), 16 * 3, {16, 16, 3}});
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  ps::Memory pictures;
  pictures.add<std::uint8_t>("image", {static_cast<std::int64_t>(bytes.size())}, {begin, begin + bytes.size()});
  bool right = false;
  ps::Loader loader(ps::from(pictures) | ps::decode_jpeg() | ps::ragged("image") | ps::batch(1));
  for (ps::Batch& batch : loader.epoch()) {
    const auto picture = batch.ragged("image")[0];
    right = picture.shape == ps::Shape{16, 16, 3} && static_cast<std::uint8_t>(picture.data[100]) == 128;
  }
  return say("a grey picture through JPEG", right);
}
