// SPDX-License-Identifier: Apache-2.0
#include "excerpt.hpp"

#include <algorithm>
#include <cstring>

#include "markers.hpp"

namespace penstock::jpeg {

namespace {

// Returns whether libjpeg needs the marker to decode the image, or to know what its colours mean.
bool is_kept(const Marker& marker) {
  switch (marker.code) {
    case baseline_frame:
    case extended_frame:
    case huffman_tables:
    case quantization_tables:
    case restart_interval:
    case start_of_scan:
    case jfif_marker:
    case adobe_marker:
      return true;
    default:
      return false;
  }
}

class Builder {
 public:
  Builder(Reader& reader, const Segments& segments)
      : bytes_(reader.bytes()), scan_(static_cast<std::size_t>(reader.offset())), segments_(segments) {
    const auto end_of = [](std::int32_t mcus, std::int32_t mcu, JDIMENSION side) {
      return std::min(mcus * mcu, static_cast<std::int32_t>(side));
    };
    const Size& mcu = segments.mcu;
    shows_.top = segments.rows.first * mcu.height;
    shows_.left = segments.columns.first * mcu.width;
    shows_.height = end_of(segments.rows.end, mcu.height, reader.info().image_height) - shows_.top;
    shows_.width = end_of(segments.columns.end, mcu.width, reader.info().image_width) - shows_.left;
  }

  Excerpt build(Scratch& scratch) {
    std::size_t room = 2 + 2;
    for_each_marker(bytes_.first(scan_), [&](const Marker& m) { room += is_kept(m) ? m.end - m.begin : 0; });
    for (const Extent& extent : segments_.extents) room += extent.end - extent.begin + 2;
    std::byte* const first = scratch.allocate(room);
    out_ = reinterpret_cast<std::uint8_t*>(first);
    put_header();
    put_segments();
    return {{first, reinterpret_cast<std::byte*>(out_)}, shows_};
  }

 private:
  void put_header() {
    put_marker(start_of_image);
    for_each_marker(bytes_.first(scan_), [this](const Marker& marker) {
      if (!is_kept(marker)) return;
      put(marker.begin, marker.end);
      if (!is_frame(marker)) return;
      // After the code come length (2 bytes), precision (1), height (2) and width (2).
      std::size_t code = marker.begin;
      while (bytes_[code] == 0xff) ++code;
      std::uint8_t* const size = out_ - (marker.end - code) + 4;
      size[0] = static_cast<std::uint8_t>(shows_.height >> 8), size[1] = static_cast<std::uint8_t>(shows_.height);
      size[2] = static_cast<std::uint8_t>(shows_.width >> 8), size[3] = static_cast<std::uint8_t>(shows_.width);
    });
  }

  void put_segments() {
    std::uint32_t copied = 0;
    for (const Extent& extent : segments_.extents) {
      if (copied != 0) put_marker(static_cast<std::uint8_t>(restart_0 | ((copied - 1) & 7)));
      put(extent.begin, extent.end);
      ++copied;
    }
    put_marker(end_of_image);
  }

  void put(std::size_t begin, std::size_t end) {
    std::memcpy(out_, bytes_.data() + begin, end - begin);
    out_ += end - begin;
  }
  void put_marker(std::uint8_t code) {
    out_[0] = 0xff, out_[1] = code;
    out_ += 2;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t scan_;  // where the Huffman-coded data begins
  const Segments& segments_;
  Box shows_;
  std::uint8_t* out_ = nullptr;
};

}  // namespace

Excerpt excerpt(Reader& reader, const Segments& segments, Scratch& scratch) {
  return Builder(reader, segments).build(scratch);
}

}  // namespace penstock::jpeg
