// SPDX-License-Identifier: Apache-2.0
// Walks through the MCUs of a scan, and decodes or skips them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "block_decoding.hpp"
#include "frame.hpp"
#include "hand_over.hpp"
#include "scan_reader.hpp"

namespace penstock::jpeg::baseline {

class ScanWalk {
 public:
  static constexpr int most_blocks = static_cast<int>(ScanReader::most_blocks);

  // The scan's data begins at offset `from` of the bytes. `blocks`: `most_blocks` blocks, all 0. All arguments must
  // outlive this.
  ScanWalk(const Frame& frame, std::span<const std::uint8_t> bytes, std::size_t from, ScanReader& reader, Block* blocks)
      : frame_(frame), bytes_(bytes), reader_(reader), blocks_(blocks) {
    begin_segment(from);
  }

  // Returns why it can't continue. What was decoded since it last could has no meaning.
  const std::optional<HandOver>& stopped() const noexcept { return stopped_; }

  // Decodes the next `mcus` MCUs, some at a time. For each part it calls `use(first, some, blocks)` with the blocks of
  // `some` MCUs, the first of which has the number `first`, in the order of the scan. `use` sets the blocks to 0 again.
  template <class Use>
  void decode(int mcus, Use&& use) {
    for_some(mcus, [&](int first, int some) {
      decode_some(some);
      use(first, some, blocks_);
    });
  }

  void skip(int mcus) {
    for_some(mcus, [&](int, int some) { skip_some(some); });
  }

  // Continues at another segment, which begins at `from`. The segment before must have been read to its end.
  void jump(std::size_t from);

  // Call it after all MCUs that are wanted. Returns whether libjpeg would find no fault in them either.
  bool sound() {
    if (!stopped_ && (!reader_.in_segment() || reader_.near_end_of_data())) stopped_ = HandOver::end_of_data;
    return !stopped_;
  }

  // Returns whether a segment ends here, with no data left over.
  bool ends_segment();
  // Returns sound() after the last MCU of the image, and checks that the image ends there.
  bool ends_image();

 private:
  // Calls `each(first, some)` for all MCUs. A call has at most the MCUs that may be decoded without a check for the end
  // of the data, and does not cross a restart marker.
  template <class Each>
  void for_some(int mcus, Each&& each) {
    const int together = most_blocks / frame_.blocks;
    for (int first = 0; first < mcus;) {
      if (frame_.restart_interval != 0 && left_in_segment_ == 0) next_segment();
      if (!stopped_ && !reader_.ready()) stopped_ = HandOver::end_of_data;
      if (stopped_) return;
      int some = std::min(together, mcus - first);
      if (frame_.restart_interval != 0) {
        some = static_cast<int>(std::min<unsigned>(static_cast<unsigned>(some), left_in_segment_));
        left_in_segment_ -= static_cast<unsigned>(some);
      }
      each(first, some);
      first += some;
    }
  }

  void decode_some(int mcus);
  void skip_some(int mcus);
  void begin_segment(std::size_t from);
  void next_segment();

  const Frame& frame_;
  std::span<const std::uint8_t> bytes_;
  ScanReader& reader_;
  Block* blocks_;
  std::int32_t dc_[3] = {};  // DC value of each component's last block
  unsigned left_in_segment_ = 0;
  unsigned segments_ = 0;  // segments that were read
  std::optional<HandOver> stopped_;
};

}  // namespace penstock::jpeg::baseline
