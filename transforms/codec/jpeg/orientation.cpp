// SPDX-License-Identifier: Apache-2.0
#include "orientation.hpp"

#include <cstdint>
#include <cstring>

namespace penstock::jpeg {

namespace {

// Reads numbers from the bytes of a TIFF. Numbers beyond its end are 0.
struct Tiff {
  std::span<const std::uint8_t> bytes;
  bool big_endian = false;

  std::uint32_t number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || size > bytes.size() - at) return 0;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < size; ++i) n = n << 8 | bytes[at + (big_endian ? i : size - 1 - i)];
    return n;
  }
};

int orientation_of(std::span<const std::uint8_t> exif) {
  constexpr int upright = 1;
  if (exif.size() < 8 || exif[0] != exif[1] || (exif[0] != 'I' && exif[0] != 'M')) return upright;
  const Tiff tiff{exif, exif[0] == 'M'};
  if (tiff.number(2, 2) != 42) return upright;
  const std::size_t list = tiff.number(4, 4);
  const std::size_t entries = tiff.number(list, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    constexpr std::uint32_t orientation_tag = 0x112, short_type = 3, long_type = 4;  // some programs write long_type
    const std::size_t entry = list + 2 + i * 12;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    const std::uint32_t type = tiff.number(entry + 2, 2);
    const std::uint32_t value = tiff.number(entry + 8, type == long_type ? 4 : 2);
    const bool sense = (type == short_type || type == long_type) && tiff.number(entry + 4, 4) == 1;
    return sense && value >= 1 && value <= 8 ? static_cast<int>(value) : upright;
  }
  return upright;
}

}  // namespace

int orientation(std::span<const Segment> segments) {
  constexpr char start[] = "Exif\0";  // this 0 and the 0 that ends the text are compared, too
  for (const Segment& segment : segments) {
    if (segment.code == exif_marker && segment.data.size() >= sizeof(start) &&
        std::memcmp(segment.data.data(), start, sizeof(start)) == 0)
      return orientation_of(segment.data.subspan(sizeof(start)));
  }
  return 1;
}

}  // namespace penstock::jpeg
