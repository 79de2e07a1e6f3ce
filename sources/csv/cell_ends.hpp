// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::csv {

/// Finds where cells end: at a delimiter, a line's end, or the end of the text, ignoring quotes. It looks at 64 bytes
/// together, because in a loop over single bytes the branch would be mispredicted at the end of each cell.
class CellEnds {
 public:
  static constexpr std::size_t block_bytes = 64;

  /// A block of 64 bytes, and the ends in it that `next` has not returned, one bit per byte.
  struct Block {
    const char* at;
    std::uint64_t ends;
  };

  /// REQUIRES: `block_bytes` bytes may be read from `end` on, whatever they hold.
  CellEnds(const char* end, char delimiter) noexcept : end_(end), delimiters_(filled(delimiter)) {}

  const char* text_end() const noexcept { return end_; }

  Block block(const char* at) const noexcept {
    return {at, find(at) | find(at + 16) << 16 | find(at + 32) << 32 | find(at + 48) << 48};
  }

  /// Returns the next cell end.
  [[gnu::always_inline]] const char* next(Block& in) const noexcept {
    while (in.ends == 0) {
      if (static_cast<std::size_t>(end_ - in.at) <= block_bytes) return end_;
      in = block(in.at + block_bytes);
    }
    const char* const at = in.at + std::countr_zero(in.ends);
    in.ends &= in.ends - 1;
    return at < end_ ? at : end_;
  }

 private:
  // These vector types are extensions of g++ and clang. They work with any instruction set.
  using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
  using Words [[gnu::vector_size(16)]] = std::uint64_t;

  static Bytes filled(char c) noexcept { return Bytes{} + static_cast<std::uint8_t>(c); }

  // Returns the cell ends in 16 bytes, one bit per byte.
  std::uint64_t find(const char* at) const noexcept {
    constexpr Bytes bit_of_byte = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    constexpr std::uint64_t sum_on_top = 0x0101010101010101;
    Bytes text;
    std::memcpy(&text, at, sizeof text);
    const auto ends = reinterpret_cast<Bytes>((text == delimiters_) | (text == filled('\n')));
    const auto bits = reinterpret_cast<Words>(ends & bit_of_byte);
    return (bits[0] * sum_on_top) >> 56 | ((bits[1] * sum_on_top) >> 56) << 8;
  }

  const char* end_;
  Bytes delimiters_;
};

}  // namespace penstock::csv
