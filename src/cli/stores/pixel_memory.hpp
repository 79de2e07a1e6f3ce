// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock::cli {

/// Memory for the pixels of one image at a time, reused for the next image.
class PixelMemory final : public Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (used_ == blocks_.size()) blocks_.emplace_back();
    Block& block = blocks_[used_++];
    if (block.bytes < bytes) {
      block.memory.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
      block.bytes = bytes;
    }
    return block.memory.get();
  }
  void reset() noexcept { used_ = 0; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{64}); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  std::vector<Block> blocks_;
  std::size_t used_ = 0;
};

}  // namespace penstock::cli
