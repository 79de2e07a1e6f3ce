// SPDX-License-Identifier: Apache-2.0
// Finds the markers of a JPEG in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace penstock::jpeg {

// Codes of markers, without the FF before them.
enum : std::uint8_t {
  baseline_frame = 0xc0,
  extended_frame = 0xc1,
  huffman_tables = 0xc4,
  restart_0 = 0xd0,
  restart_7 = 0xd7,
  start_of_image = 0xd8,
  end_of_image = 0xd9,
  start_of_scan = 0xda,
  quantization_tables = 0xdb,
  restart_interval = 0xdd,
  first_application = 0xe0,
  jfif_marker = 0xe0,
  exif_marker = 0xe1,
  icc_marker = 0xe2,
  adobe_marker = 0xee,
  last_application = 0xef,
  comment = 0xfe,
};

struct Marker {
  std::size_t begin = 0;  // offset of the first FF; more FFs may follow before the code
  std::size_t end = 0;    // offset after the code, or, in a header, after the marker's data
  std::uint8_t code = 0;
};

// A marker's code and data, without the length before the data.
struct Segment {
  std::uint8_t code;
  std::span<const std::uint8_t> data;
};

// Returns the next marker in Huffman-coded data from `at` on. As in libjpeg, a marker is one or more FFs and the byte
// after them, unless that byte is 0. Returns nothing if the data ends without a complete marker.
std::optional<Marker> next_marker(std::span<const std::uint8_t> bytes, std::size_t at);

// Returns the marker at `at` in a header, with its data. Returns nothing if no marker is there, if its kind has no
// data, or if its data is cut off.
std::optional<Marker> header_marker(std::span<const std::uint8_t> bytes, std::size_t at);

// Calls `each` with the markers of `header`, except the start of the image. `header` ends where the scan's data begins.
// Stops at bytes that are not a marker with its data. Returns whether the header has the usual form: it has only
// markers and their data, and its last marker starts a scan.
bool for_each_marker(std::span<const std::uint8_t> header, const auto& each) {
  Marker marker{.end = 2};
  do {
    const std::optional<Marker> next = header_marker(header, marker.end);
    if (!next) return false;
    marker = *next;
    each(marker);
  } while (marker.end < header.size());
  return marker.code == start_of_scan;
}

inline bool is_frame(const Marker& marker) noexcept {
  return marker.code == baseline_frame || marker.code == extended_frame;
}

}  // namespace penstock::jpeg
