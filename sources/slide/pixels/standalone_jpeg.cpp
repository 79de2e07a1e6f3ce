// SPDX-License-Identifier: Apache-2.0
#include "pixels/standalone_jpeg.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace penstock::slide {

namespace {

enum JpegMarker : std::uint8_t { sof0 = 0xC0, dht = 0xC4, soi = 0xD8, eoi = 0xD9, sos = 0xDA, dqt = 0xDB, dri = 0xDD };
constexpr std::uint8_t app0 = 0xE0, app14 = 0xEE;

constexpr std::array<std::uint8_t, 16> adobe{0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};

unsigned byte_at(std::span<const std::byte> bytes, std::size_t at) { return std::to_integer<unsigned>(bytes[at]); }

// Reads the segments of a JPEG's header, one after the other.
class Segments {
 public:
  explicit Segments(std::span<const std::byte> stream) : stream_(stream) {
    good_ = stream.size() >= 2 && byte_at(stream, 0) == 0xFF && byte_at(stream, 1) == soi;
  }
  // Goes to the next segment. Returns false at the end of the header, and if the header is damaged.
  bool next() {
    if (!good_ || at_ + 4 > stream_.size() || byte_at(stream_, at_) != 0xFF) return stop(false);
    code = static_cast<std::uint8_t>(byte_at(stream_, at_ + 1));
    if (code == eoi || code == sos) return stop(true);
    const std::size_t length = byte_at(stream_, at_ + 2) << 8 | byte_at(stream_, at_ + 3);
    if (code < sof0 || length < 2 || length > stream_.size() - at_ - 2) return stop(false);
    whole = stream_.subspan(at_, 2 + length);
    at_ += 2 + length;
    return true;
  }
  // Returns whether the header has ended as it should.
  bool complete() const { return good_; }
  // Returns the stream from the marker that ended the header on.
  std::span<const std::byte> rest() const { return stream_.subspan(at_); }

  std::uint8_t code = 0;
  std::span<const std::byte> whole;  // the present segment, with its marker and length

 private:
  bool stop(bool good) {
    // A stream that has only tables may lack its end marker.
    good_ = good || (good_ && at_ + 4 > stream_.size());
    return false;
  }
  std::span<const std::byte> stream_;
  std::size_t at_ = 2;
  bool good_ = false;
};

bool is_frame(std::uint8_t code) { return code >= sof0 && code <= 0xCF && code != dht && code != 0xC8 && code != 0xCC; }

bool fits(std::span<const std::byte> frame, const StreamFacts& facts) {
  constexpr std::size_t frame_bytes = 19;  // bytes of a frame header with three components
  if (frame.size() < frame_bytes) return false;
  const auto number = [&](std::size_t at) {
    return static_cast<int>(byte_at(frame, at) << 8 | byte_at(frame, at + 1));
  };
  return byte_at(frame, 4) == 8 && number(5) == facts.height && number(7) == facts.width && byte_at(frame, 9) == 3;
}

}  // namespace

std::size_t header_room(const StreamFacts& facts) noexcept { return facts.tables.size() + adobe.size(); }

std::optional<std::span<const std::byte>> standalone_jpeg(std::span<std::byte> memory, const StreamFacts& facts,
                                                          Scratch& scratch) {
  const std::span<const std::byte> stream = memory.subspan(header_room(facts));
  std::size_t most = header_room(facts) + 2;
  for (Segments all(stream); all.next();) most += all.whole.size();
  std::byte* const out = scratch.allocate(most);
  std::size_t size = 0;
  const auto append = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(out + size, bytes.data(), bytes.size());
    size += bytes.size();
  };
  append(stream.first(std::min<std::size_t>(stream.size(), 2)));
  append(std::as_bytes(std::span(adobe)));
  out[size - 1] = static_cast<std::byte>(facts.rgb ? 0 : 1);
  if (!facts.tables.empty()) {
    Segments tables(facts.tables);
    while (tables.next())
      if (tables.code == dqt || tables.code == dht || tables.code == dri) append(tables.whole);
    if (!tables.complete()) return std::nullopt;
  }
  Segments segments(stream);
  bool framed = false;
  while (segments.next()) {
    if (segments.code == app0 || segments.code == app14) continue;
    if (is_frame(segments.code)) {
      if (framed || !fits(segments.whole, facts)) return std::nullopt;
      framed = true;
    }
    append(segments.whole);
  }
  if (!framed || !segments.complete() || segments.code != sos) return std::nullopt;
  const std::size_t scan = memory.size() - segments.rest().size();
  std::memcpy(memory.data() + scan - size, out, size);
  return memory.subspan(scan - size);
}

}  // namespace penstock::slide
