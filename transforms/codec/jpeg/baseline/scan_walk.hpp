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

  // The scan's data begins at offset `from` of the bytes. `blocks` has `most_blocks` blocks, which are all 0. All
  // arguments must outlive the walk.
  ScanWalk(const Frame& frame, std::span<const std::uint8_t> bytes, std::size_t from, ScanReader& reader, Block* blocks)
      : frame_(frame), bytes_(bytes), reader_(reader), blocks_(blocks) {
    begin_segment(from);
  }

  // Returns why the walk has stopped; nothing if it can continue. After a stop, blocks of the last `decode` have no
  // meaning.
  const std::optional<HandOverReason>& stopped() const noexcept { return stopped_; }

  // Decodes the next `mcus` MCUs in several parts. For each part, calls `use(first, some, blocks)` with the blocks of
  // `some` MCUs in the order of the scan. `first` is the number of this call's MCUs before the part. `use` must set the
  // blocks to 0 again.
  template <class Use>
  void decode(int mcus, Use&& use) {
    for_some(mcus, [&](int first, int some) {
      frame_.has_flat_blocks() ? decode_some<true>(some) : decode_some<false>(some);
      use(first, some, blocks_);
    });
  }

  void skip(int mcus) {
    for_some(mcus, [&](int, int some) { skip_some(some); });
  }

  // Continues at the segment that begins at `from`. Stops the walk if the present segment was not read to its end.
  void jump(std::size_t from);

  // Call it after the last MCU that is needed. Stops the walk if the data ends so early that libjpeg may notice.
  // Returns false if the walk has stopped.
  bool sound() {
    if (!stopped_ && (!reader_.in_segment() || reader_.near_end_of_data())) stopped_ = HandOverReason::end_of_data;
    return !stopped_;
  }

  // Stops the walk if the present segment does not end here. Returns false if the walk has stopped.
  bool ends_segment();
  // Call it after the last MCU of the image, instead of sound(). Does the same as sound() and ends_segment(). Also
  // stops the walk, and returns false, if no end-of-image marker follows.
  bool ends_image();

 private:
  // Calls `each(first, some)` for parts of the MCUs. A part can be decoded without a check for the end of the data, and
  // has no restart marker inside.
  template <class Each>
  void for_some(int mcus, Each&& each) {
    const int together = most_blocks / frame_.blocks;
    for (int first = 0; first < mcus;) {
      if (frame_.restart_interval != 0 && left_in_segment_ == 0) next_segment();
      if (!stopped_ && !reader_.ready()) stopped_ = HandOverReason::end_of_data;
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

  template <bool Flat>
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
  unsigned segments_ = 0;  // number of restart markers that next_segment() has passed
  std::optional<HandOverReason> stopped_;
};

}  // namespace penstock::jpeg::baseline
