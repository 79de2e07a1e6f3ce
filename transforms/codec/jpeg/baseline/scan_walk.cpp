// SPDX-License-Identifier: Apache-2.0
#include "scan_walk.hpp"

#include "../markers.hpp"

namespace penstock::jpeg::baseline {

namespace {

// Copies the variables that change with each symbol, and writes them back at the end. Local copies can stay in
// registers.
class LocalScanState {
 public:
  LocalScanState(BitReader& reader, std::int32_t (&dc)[3], std::optional<HandOverReason>& stopped)
      : reader_(reader), dc_(dc), stopped_(stopped), bits(reader), last{dc[0], dc[1], dc[2]} {}
  LocalScanState(const LocalScanState&) = delete;
  LocalScanState& operator=(const LocalScanState&) = delete;
  ~LocalScanState() {
    reader_ = bits;
    std::copy_n(last, 3, dc_);
    if (damaged) stopped_ = HandOverReason::code;
    if (!stopped_ && too_large != 0) stopped_ = HandOverReason::range;
  }

 private:
  BitReader& reader_;
  std::int32_t (&dc_)[3];
  std::optional<HandOverReason>& stopped_;

 public:
  BitReader bits;
  std::int32_t last[3];
  bool damaged = false;
  std::uint32_t too_large = 0;  // not 0: a first coefficient had more than 16 bits

  void check(std::int32_t dc) { too_large |= static_cast<std::uint32_t>(dc + 32768) >> 16; }
};

}  // namespace

// With `Flat`, blocks may be flat: the other coefficients of those are skipped.
template <bool Flat>
[[gnu::noinline]] void ScanWalk::decode_some(int mcus) {
  LocalScanState run(reader_.bits(), dc_, stopped_);
  Block* block = blocks_;
  for (int mcu = 0; mcu < mcus; ++mcu) {
    for (int k = 0; k < frame_.blocks; ++k, ++block) {
      const Frame::BlockOf& of = frame_.block[k];
      std::int32_t& dc = run.last[of.component];
      if (Flat && of.flat) {
        skip_block(run.bits, *of.dc, *of.ac, dc, run.damaged);
        block->coefficients[0] = static_cast<std::int16_t>(dc);
        block->known = 1;
      } else {
        decode_block(run.bits, *of.dc, *of.ac, dc, *block, run.damaged);
      }
      run.check(dc);
    }
  }
}
template void ScanWalk::decode_some<true>(int);
template void ScanWalk::decode_some<false>(int);

[[gnu::noinline]] void ScanWalk::skip_some(int mcus) {
  LocalScanState run(reader_.bits(), dc_, stopped_);
  for (int mcu = 0; mcu < mcus; ++mcu) {
    for (int k = 0; k < frame_.blocks; ++k) {
      const Frame::BlockOf& of = frame_.block[k];
      std::int32_t& dc = run.last[of.component];
      skip_block(run.bits, *of.dc, *of.ac, dc, run.damaged);
      run.check(dc);
    }
  }
}

void ScanWalk::begin_segment(std::size_t from) {
  reader_.open(bytes_, from);
  std::fill_n(dc_, 3, 0);
  left_in_segment_ = frame_.restart_interval;
}

bool ScanWalk::ends_segment() {
  if (!stopped_ && !reader_.at_end())
    stopped_ = reader_.in_segment() ? HandOverReason::marker : HandOverReason::end_of_data;
  return !stopped_;
}

void ScanWalk::next_segment() {
  if (!ends_segment()) return;
  if (reader_.marker() != static_cast<int>(restart_0 | (segments_ & 7))) {
    stopped_ = HandOverReason::marker;
    return;
  }
  ++segments_;
  begin_segment(reader_.position() + 2);
}

void ScanWalk::jump(std::size_t from) {
  if (ends_segment()) begin_segment(from);
}

bool ScanWalk::ends_image() {
  if (!sound() || !ends_segment()) return false;
  if (reader_.marker() != end_of_image) stopped_ = HandOverReason::marker;
  return !stopped_;
}

}  // namespace penstock::jpeg::baseline
