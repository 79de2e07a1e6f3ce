// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/lzw.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <penstock/error.hpp>

namespace penstock::slide {

namespace {

constexpr std::uint32_t clear_code = 256, end_code = 257, first_free = 258, most_codes = 4096;
constexpr unsigned fewest_bits = 9, most_bits = 12;

// Reads codes of 9 to 12 bits, the most significant bit first.
class Codes {
 public:
  explicit Codes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  // Returns end_code if too few bits are left.
  std::uint32_t next(unsigned bits) noexcept {
    while (count_ < bits) {
      if (at_ == bytes_.size()) return end_code;
      kept_ = kept_ << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
      count_ += 8;
    }
    count_ -= bits;
    return static_cast<std::uint32_t>(kept_ >> count_) & ((1u << bits) - 1);
  }
  std::size_t at() const noexcept { return at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t kept_ = 0;
  unsigned count_ = 0;
};

// Copies forwards. The ranges may overlap, and then the first bytes repeat. Writes up to 8 bytes after the end, of
// which `room` bytes from `to` on exist.
void copy_text(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t room) noexcept {
  if (to - from >= 8 && room >= bytes + 8) {
    for (std::size_t i = 0; i < bytes; i += 8) std::memcpy(to + i, from + i, 8);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

// Before TIFF 6.0, the least significant bit came first. The first code clears the table, so such a stream begins with
// these bytes.
bool is_of_old_form(std::span<const std::byte> encoded) noexcept {
  return encoded.size() >= 2 && encoded[0] == std::byte{0} && (encoded[1] & std::byte{1}) != std::byte{0};
}

}  // namespace

std::size_t decode_lzw(std::span<const std::byte> encoded, std::span<std::byte> out) {
  if (is_of_old_form(encoded))
    throw Error(Errc::unsupported, "its LZW has the form from before TIFF 6.0; write the file anew, by tiffcp");
  // The text of a code is the text of the code before it, and one byte more. These bytes are in `out` already.
  struct Text {
    std::uint32_t begin, bytes;
  };
  std::array<Text, most_codes> texts;
  std::uint32_t codes = first_free;  // number of codes that the stream has defined
  unsigned bits = fewest_bits;
  std::size_t done = 0, before = 0, before_bytes = 0;
  Codes stream(encoded);
  while (done < out.size()) {
    const std::uint32_t code = stream.next(bits);
    if (code == end_code) break;
    if (code == clear_code) {
      codes = first_free;
      bits = fewest_bits;
      before_bytes = 0;
      continue;
    }
    // The code before this one defines a code now, which this code may be.
    if (before_bytes != 0 && codes < most_codes) {
      texts[codes++] = {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(before_bytes + 1)};
      // The writer's table is one code ahead, so the number of bits grows one code early.
      if (codes + 1 >= 1u << bits && bits < most_bits) ++bits;
    }
    before = done;
    if (code < clear_code) {
      out[done] = static_cast<std::byte>(code);
      before_bytes = 1;
    } else {
      if (code >= codes)
        throw Error(Errc::corrupt, "its LZW has the code " + std::to_string(code) + ", which it has not defined")
            .with_offset(stream.at());
      before_bytes = std::min<std::size_t>(texts[code].bytes, out.size() - done);
      copy_text(out.data() + texts[code].begin, out.data() + done, before_bytes, out.size() - done);
    }
    done += before_bytes;
  }
  return done;
}

}  // namespace penstock::slide
