// SPDX-License-Identifier: Apache-2.0
// Bytes of a JPEG, taken apart and changed; and what our decoder makes of them.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <penstock/transforms/decode_jpeg.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

// Where the first segment of that code begins, at its FF. @throws std::logic_error where there is none before the scan.
inline std::size_t segment(std::span<const std::byte> bytes, int code) {
  for (std::size_t i = 2; i + 4 < bytes.size();) {
    const int here = std::to_integer<int>(bytes[i + 1]);
    if (here == code) return i;
    if (here == 0xda) break;
    i += 2 + (std::to_integer<std::size_t>(bytes[i + 2]) << 8 | std::to_integer<std::size_t>(bytes[i + 3]));
  }
  throw std::logic_error("no such segment");
}

inline std::vector<std::byte> with_inserted(std::vector<std::byte> bytes, std::size_t at, std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), first, first + text.size());
  return bytes;
}

inline Image decoded(std::span<const std::byte> bytes, const penstock::JpegOptions& options = {}, bool verify = true) {
  TestScratch scratch;
  const auto decoding = penstock::jpeg_decoder(options)->start();
  const penstock::ImageShape shape = decoding->open(bytes);
  return copied(decoding->decode({0, 0, shape.height, shape.width}, verify, nullptr, scratch));
}

inline penstock::Box random_box(Numbers& numbers, const penstock::ImageShape& shape) {
  penstock::Box box{0, 0, numbers.from(1, shape.height), numbers.from(1, shape.width)};
  box.top = numbers.from(0, shape.height - box.height);
  box.left = numbers.from(0, shape.width - box.width);
  return box;
}

// An APP1 segment that declares `orientation`.
inline std::string exif_segment(int orientation, bool big_endian) {
  using namespace std::string_literals;
  const char o = static_cast<char>(orientation);
  std::string tiff = big_endian ? "MM\0\x2a\0\0\0\x08"s : "II\x2a\0\x08\0\0\0"s;
  const auto number = [&](unsigned n, int size) {
    for (int i = 0; i < size; ++i) tiff += static_cast<char>(n >> 8 * (big_endian ? size - 1 - i : i));
  };
  number(2, 2);
  number(0x100, 2), number(4, 2), number(1, 4), number(99, 4);
  number(0x112, 2), number(3, 2), number(1, 4), number(static_cast<unsigned char>(o), 2), number(0, 2);
  number(0, 4);
  return "\xff\xe1\0"s + static_cast<char>(2 + 6 + tiff.size()) + "Exif\0\0"s + tiff;
}

}  // namespace penstock_test
