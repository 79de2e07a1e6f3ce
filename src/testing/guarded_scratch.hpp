// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <penstock/extend/image_executor.hpp>

#include "guarded_memory.hpp"

namespace penstock::testing {

/// Scratch with guard bytes around each block. Blocks have the alignment of a loader's scratch. Blocks differ in their
/// initial content.
class GuardedScratch final : public Scratch {
 public:
  explicit GuardedScratch(std::byte content = std::byte{0x30}) : content_(content) {}
  std::byte* allocate(std::size_t bytes) override {
    const auto number = static_cast<unsigned char>(blocks_.size());
    blocks_.emplace_back(bytes, std::byte(std::to_integer<unsigned char>(content_) + number));
    return blocks_.back().data();
  }
  /// Returns whether the guard bytes around all blocks are unchanged.
  bool intact() const {
    return std::ranges::all_of(blocks_, [](const GuardedMemory& block) { return block.intact(); });
  }

 private:
  std::byte content_;
  std::vector<GuardedMemory> blocks_;
};

}  // namespace penstock::testing
