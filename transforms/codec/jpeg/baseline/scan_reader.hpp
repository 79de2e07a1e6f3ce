// The data of a scan, without its stuffing, some of it at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bit_reader.hpp"

namespace penstock::jpeg::baseline {

// Between two markers lies a segment of Huffman-coded data, in which a 0 follows each FF. Kept by a decoder for all its
// images: 21 KB.
class ScanReader {
 public:
  // A block takes so many bytes at most: a difference of 27 bits, and 63 symbols of 26 bits. So many of them are
  // decoded without a look at where the data ends.
  static constexpr std::size_t most_blocks = 24, block_bytes = 212;

  ScanReader();

  // The segment that begins at `from`. The bytes stay where they are until it is finished.
  void open(std::span<const std::uint8_t> bytes, std::size_t from);

  BitReader& bits() noexcept { return bits_; }
  // To be called before each `most_blocks` blocks. False: what was taken is more than there is.
  bool ready() {
    if (__builtin_expect(bits_.next() > low_, 0)) return more();
    return true;
  }
  // Whether all that was taken is of the segment. The bits after its end, which are of no meaning, can be taken before
  // anybody asks.
  bool in_segment() const noexcept { return !at_end_ || bits_left() >= 0; }
  // Whether the segment ends here: nothing of it is left but what fills up a byte.
  bool at_end();
  // The code of the marker after the segment, once all of that was read; 0 where the data ends without one.
  int marker() const noexcept;
  // Where that marker is.
  std::size_t position() const noexcept { return in_; }
  // Whether libjpeg, which reads ahead, may have come to the end of the data.
  bool near_end_of_data() const noexcept;

 private:
  static constexpr std::size_t before = 16;  // for bits that are put back
  static constexpr std::size_t chunk = 16384, margin = most_blocks * block_bytes + 64;

  bool more();
  void fill();
  std::int64_t bits_left() const noexcept { return (end_ - bits_.next()) * 8 + bits_.loaded(); }

  std::span<const std::uint8_t> bytes_;
  std::size_t in_ = 0;   // first of `bytes_` that is not in the room yet
  bool at_end_ = false;  // a marker is at `in_`, or the data ends there
  BitReader bits_;
  const std::uint8_t* end_ = nullptr;  // end of what is in the room
  const std::uint8_t* low_ = nullptr;  // where it may not be enough for `most_blocks` blocks
  std::unique_ptr<std::uint8_t[]> room_;
};

}  // namespace penstock::jpeg::baseline
