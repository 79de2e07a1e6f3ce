// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// Takes memory from another Scratch, and gives it out again after `reset`. It is for work that is done many times per
/// record, because the other Scratch keeps all memory until the record is done.
class ReusedScratch final : public Scratch {
 public:
  explicit ReusedScratch(Scratch& outer) noexcept : outer_(outer) {}

  std::byte* allocate(std::size_t bytes) override {
    // Finds the first free piece that is large enough.
    for (; next_ < count_; ++next_)
      if (pieces_[next_].bytes >= bytes) return pieces_[next_++].memory;
    // Rounds up by at most an eighth, so that a later, slightly larger request can reuse the piece.
    const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 8, 1);
    const std::size_t rounded = (bytes + step - 1) / step * step;
    std::byte* const memory = outer_.allocate(rounded);
    if (count_ < pieces_.size()) {
      pieces_[count_++] = {memory, rounded};
      next_ = count_;
    }
    return memory;
  }
  void reset() noexcept { next_ = 0; }

 private:
  struct Piece {
    std::byte* memory;
    std::size_t bytes;
  };
  Scratch& outer_;
  std::array<Piece, 64> pieces_{};
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace penstock::slide
