// SPDX-License-Identifier: Apache-2.0
// Reads the data of a scan without its stuffing, one piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bit_reader.hpp"

namespace penstock::jpeg::baseline {

// Between two markers is a segment of Huffman-coded data, in which a 0 follows each FF. A decoder keeps one reader for
// all its images; a reader takes 26 KB.
class ScanReader {
 public:
  // The largest number of blocks that are decoded without a check for the end of the data, and the largest size of a
  // block in bytes. A block has at most a difference of 27 bits, and 63 symbols of 26 bits.
  static constexpr std::size_t most_blocks = 24, block_bytes = 212;

  ScanReader();

  // Begins the segment at `from`. The bytes must not move until the segment was read.
  void open(std::span<const std::uint8_t> bytes, std::size_t from);

  BitReader& bits() noexcept { return bits_; }
  // Call it before each group of at most `most_blocks` blocks. Returns false if more bits were taken than the segment
  // has.
  bool ready() {
    if (__builtin_expect(bits_.next() > low_, 0)) return more();
    return true;
  }
  // Returns whether all bits that were taken belong to the segment. Bits after its end can be taken before this check;
  // they have no meaning.
  bool in_segment() const noexcept { return !at_end_ || bits_left() >= 0; }
  // Returns whether the segment ends here: only the bits that fill up its last byte are left.
  bool at_end();
  // Returns the code of the marker after the segment, or 0 if the data ends without a marker. Call it only after all of
  // the segment was read.
  int marker() const noexcept;
  // Returns the offset of that marker. Call it only after all of the segment was read.
  std::size_t position() const noexcept { return in_; }
  // Returns whether libjpeg, which reads ahead, may have reached the end of the data.
  bool near_end_of_data() const noexcept;

 private:
  static constexpr std::size_t before = 16;  // bytes before the data, for bits that are put back
  static constexpr std::size_t chunk = 16384, margin = most_blocks * block_bytes + 64;

  bool more();
  void fill();
  std::int64_t bits_left() const noexcept { return (end_ - bits_.next()) * 8 + bits_.loaded(); }

  std::span<const std::uint8_t> bytes_;
  std::size_t in_ = 0;   // index of the first of `bytes_` that is not in `room_` yet
  bool at_end_ = false;  // a marker is at `in_`, or the data ends there
  BitReader bits_;
  const std::uint8_t* end_ = nullptr;  // end of the bytes in `room_`
  const std::uint8_t* low_ = nullptr;  // if `bits_` is beyond this address, `ready` calls more()
  std::unique_ptr<std::uint8_t[]> room_;
};

}  // namespace penstock::jpeg::baseline
