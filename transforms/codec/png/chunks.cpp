// SPDX-License-Identifier: Apache-2.0
#include "chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <libdeflate.h>

#include <penstock/error.hpp>

namespace penstock::png {

namespace {

constexpr std::array<unsigned char, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
// Numbers of bytes before a chunk's data (length and type), and after it (check sum).
constexpr std::size_t head = 8, tail = 4;

std::uint32_t number(const std::byte* at) {
  std::uint32_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | std::to_integer<std::uint32_t>(at[i]);
  return n;
}

constexpr std::uint32_t type(const char (&name)[5]) {
  std::uint32_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(name[i]);
  return n;
}

std::string text(std::uint32_t chunk) {
  std::string name;
  for (int shift = 24; shift >= 0; shift -= 8) name += static_cast<char>(chunk >> shift & 0xff);
  return name;
}

std::uint32_t check_sum(std::span<const std::byte> bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

[[noreturn]] void refuse(Errc code, std::uint64_t offset, const std::string& cause) {
  throw Error(code, cause).with_offset(offset);
}

bool is_depth(std::uint8_t color, std::uint8_t depth) {
  switch (color) {
    case gray:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case palette:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case rgb:
    case gray_alpha:
    case rgba:
      return depth == 8 || depth == 16;
    default:
      return false;
  }
}

// Returns whether the type has four letters. If it does not, no chunk begins here.
bool is_type(std::uint32_t name) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    const std::uint32_t lower = (name >> shift & 0xff) | 0x20;
    if (lower < 'a' || lower > 'z') return false;
  }
  return true;
}

bool is_transparency(const Header& header, std::uint32_t length) {
  if (header.color == palette) return length >= 1 && length <= 256;
  return length == (header.color == gray ? 2 : 6);
}

Header read_header(const std::byte* data, std::uint64_t offset) {
  constexpr std::uint32_t most = 0x7fffffff;
  const auto byte = [&](int i) { return std::to_integer<std::uint8_t>(data[i]); };
  Header header;
  header.width = number(data);
  header.height = number(data + 4);
  header.depth = byte(8);
  header.color = byte(9);
  header.interlaced = byte(12) == 1;
  if (header.width == 0 || header.height == 0 || header.width > most || header.height > most)
    refuse(Errc::corrupt, offset, "the PNG's header declares an impossible size");
  if (!is_depth(header.color, header.depth))
    refuse(Errc::corrupt, offset,
           "the PNG's header declares colour type " + std::to_string(header.color) + " with " +
               std::to_string(header.depth) + " bits, which do not go together");
  if (byte(10) != 0 || byte(11) != 0 || byte(12) > 1)
    refuse(Errc::corrupt, offset, "the PNG's header declares an unknown compression, filter or interlacing");
  return header;
}

}  // namespace

Header check_chunks(std::span<const std::byte> encoded) {
  if (encoded.size() < signature.size() || std::memcmp(encoded.data(), signature.data(), signature.size()) != 0)
    refuse(Errc::corrupt, 0, "not a PNG: the first eight bytes are not its signature");
  Header header;
  bool palette_seen = false, pixels_seen = false, pixels_ended = false;
  std::uint32_t before = 0;
  for (std::size_t at = signature.size();;) {
    if (encoded.size() - at < head + tail)
      refuse(Errc::corrupt, encoded.size(), "the PNG ends before its end chunk: it is cut off");
    const std::uint32_t length = number(encoded.data() + at), name = number(encoded.data() + at + 4);
    if (length > encoded.size() - at - head - tail)
      refuse(Errc::corrupt, at, "a chunk of the PNG is longer than what is left: it is cut off, or damaged");
    const std::byte* data = encoded.data() + at + head;
    if (check_sum(encoded.subspan(at + 4, 4 + std::size_t{length})) != number(data + length))
      refuse(Errc::corrupt, at, "the check sum of a chunk of the PNG differs: it is damaged");
    if (!is_type(name)) refuse(Errc::corrupt, at, "a chunk of the PNG has an impossible type: it is damaged");
    if ((name == type("IHDR")) != (before == 0))
      refuse(Errc::corrupt, at, "a PNG begins with its header chunk, and has one");
    if (name == type("IHDR")) {
      if (length != 13) refuse(Errc::corrupt, at, "the PNG's header chunk has another size than 13 bytes");
      header = read_header(data, at);
    } else if (name == type("PLTE")) {
      if (palette_seen || pixels_seen || length == 0 || length % 3 != 0 || length > 768)
        refuse(Errc::corrupt, at, "the PNG's palette is misplaced, or of an impossible size");
      palette_seen = true;
      header.palette_at = at + head;
      header.palette_bytes = length;
    } else if (name == type("tRNS")) {
      if (header.color == gray_alpha || header.color == png::rgba || header.transparency || pixels_seen ||
          (header.color == palette && !palette_seen) || !is_transparency(header, length))
        refuse(Errc::corrupt, at, "the PNG's transparent colours are misplaced, or of an impossible size");
      header.transparency = true;
      header.transparency_at = at + head;
      header.transparency_bytes = length;
    } else if (name == type("IDAT")) {
      if (pixels_ended) refuse(Errc::corrupt, at, "the PNG's pixel chunks do not follow each other");
      if (header.bytes == 0) {
        header.pixels_at = at + head;
        header.first_pixels_bytes = length;
      }
      pixels_seen = true;
      header.bytes += length;
      header.longest = std::max(header.longest, length);
    } else if (name == type("IEND")) {
      header.end_bytes = length;
      break;
    } else if ((name >> 24 & 0x20) == 0) {
      refuse(Errc::unsupported, at,
             "the PNG has a critical chunk \"" + text(name) + "\", which is not of the PNG standard; re-encode it");
    }
    pixels_ended = pixels_seen && name != type("IDAT");
    before = name;
    at += head + length + tail;
  }
  if (header.bytes == 0) refuse(Errc::corrupt, encoded.size(), "the PNG has no pixels");
  if (header.color == palette && !palette_seen)
    refuse(Errc::corrupt, encoded.size(), "the PNG's pixels are indices of a palette that is not there");
  return header;
}

std::span<const std::byte> first_pixels(std::span<const std::byte> encoded, const Header& header) {
  return encoded.subspan(header.pixels_at, header.first_pixels_bytes);
}

void join_pixels(std::span<const std::byte> encoded, const Header& header, std::byte* to) {
  std::uint64_t left = header.bytes;
  // Pixel chunks follow each other.
  for (std::size_t at = header.pixels_at - head; left > 0;) {
    const std::uint32_t length = number(encoded.data() + at);
    std::memcpy(to, encoded.data() + at + head, length);
    to += length;
    left -= length;
    at += head + length + tail;
  }
}

ChunkStream::ChunkStream(std::span<const std::byte> encoded, const Header& header, bool transparency)
    : encoded_(encoded),
      palette_(header.color == palette),
      transparency_(transparency && header.transparency),
      chunk_end_(signature.size()) {}

bool ChunkStream::wanted(std::span<const std::byte> chunk) const {
  const std::uint32_t name = number(chunk.data() + 4);
  if (name == type("PLTE")) return palette_;
  if (name == type("tRNS")) return transparency_;
  return name == type("IHDR") || name == type("IDAT") || name == type("IEND");
}

void ChunkStream::read(std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    while (at_ == chunk_end_) {
      if (encoded_.size() - at_ < head + tail)
        throw Error(Errc::corrupt, "the PNG's pixels end before the image does").with_offset(at_);
      const std::span<const std::byte> chunk = encoded_.subspan(at_);
      chunk_end_ = at_ + head + number(chunk.data()) + tail;
      if (!wanted(chunk)) at_ = chunk_end_;
    }
    const std::size_t some = std::min(bytes, chunk_end_ - at_);
    std::memcpy(to, encoded_.data() + at_, some);
    at_ += some;
    to += some;
    bytes -= some;
  }
}

}  // namespace penstock::png
