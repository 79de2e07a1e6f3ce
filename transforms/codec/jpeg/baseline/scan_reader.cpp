// SPDX-License-Identifier: Apache-2.0
#include "scan_reader.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::jpeg::baseline {

namespace {

constexpr std::uint8_t escape = 0xff;

}  // namespace

// The buffer is set to 0, because bits beyond the data may be read before the end is noticed.
ScanReader::ScanReader() : room_(std::make_unique<std::uint8_t[]>(before + chunk + 2 * margin)) {}

void ScanReader::open(std::span<const std::uint8_t> bytes, std::size_t from) {
  bytes_ = bytes;
  in_ = from;
  at_end_ = false;
  bits_ = BitReader(room_.get() + before);
  end_ = room_.get() + before;
  fill();
}

bool ScanReader::more() {
  if (at_end_) return bits_left() >= 0;
  // Bytes that were not taken move to the beginning of the buffer.
  const std::uint8_t* const keep = bits_.next() - before;
  const auto kept = static_cast<std::size_t>(end_ - keep);
  std::memmove(room_.get(), keep, kept);
  bits_.move_to(room_.get() + before);
  end_ = room_.get() + kept;
  fill();
  return true;
}

void ScanReader::fill() {
  std::uint8_t* out = room_.get() + (end_ - room_.get());
  const std::uint8_t* const full = room_.get() + before + chunk;
  while (out < full && !at_end_) {
    const std::uint8_t* const in = bytes_.data() + in_;
    const std::size_t some = std::min(bytes_.size() - in_, static_cast<std::size_t>(full - out));
    const void* const found = some == 0 ? nullptr : std::memchr(in, escape, some);
    const std::size_t plain =
        found == nullptr ? some : static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - in);
    std::memcpy(out, in, plain);
    out += plain;
    in_ += plain;
    if (found == nullptr) {
      at_end_ = in_ == bytes_.size();
    } else if (in_ + 1 < bytes_.size() && bytes_[in_ + 1] == 0) {
      *out++ = escape;
      in_ += 2;
    } else {
      at_end_ = true;
    }
  }
  end_ = out;
  // If the data's end is in the buffer, up to `most_blocks` blocks may be taken beyond it before `ready` returns false.
  low_ = at_end_ ? end_ : end_ - margin;
}

bool ScanReader::at_end() {
  while (!at_end_ && bits_left() < 64) more();
  return at_end_ && bits_left() >= 0 && bits_left() < 8;
}

int ScanReader::marker() const noexcept { return bytes_.size() - in_ >= 2 ? bytes_[in_ + 1] : 0; }

bool ScanReader::near_end_of_data() const noexcept {
  constexpr std::int64_t read_ahead = 64;  // libjpeg fills a register of this number of bits
  if (!at_end_ || bits_left() > read_ahead) return false;
  const int code = marker();
  return code == 0 || code == escape;
}

}  // namespace penstock::jpeg::baseline
