// SPDX-License-Identifier: Apache-2.0
// Encoded images as a source, and what a pipeline makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/penstock.hpp>

namespace penstock_test {

struct Encoded {
  std::vector<std::vector<std::byte>> files;
  std::uint64_t size() const { return files.size(); }
  penstock::Schema schema() const { return {{"image", penstock::DType::u8, {penstock::dynamic}}}; }
  void read(std::uint64_t i, penstock::SampleBuilder& out) const { out.view(0, files[i]); }
};

// The images of an epoch, one after the other.
inline std::vector<std::byte> all_bytes(const penstock::Pipeline& pipeline) {
  std::vector<std::byte> bytes;
  penstock::Loader loader(pipeline);
  for (penstock::Batch& batch : loader.epoch()) {
    const penstock::TensorView images = batch["image"];
    bytes.insert(bytes.end(), images.data, images.data + images.bytes());
  }
  return bytes;
}

}  // namespace penstock_test
