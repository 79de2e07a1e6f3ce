// SPDX-License-Identifier: Apache-2.0
#include "segments.hpp"

#include <algorithm>
#include <string>

#include "markers.hpp"

namespace penstock::jpeg {

namespace {

constexpr std::int32_t divided_up(std::int32_t a, std::int32_t b) { return (a + b - 1) / b; }

// How restart markers divide an image.
struct Grid {
  Size mcu;      // size of an MCU in pixels of the whole image
  Size mcus;     // size of the image in MCUs
  Size segment;  // size of a segment in MCUs: a part of a row of MCUs, or several whole rows

  // Number of segments from left to right, and from top to bottom.
  std::int32_t across() const noexcept { return mcus.width / segment.width; }
  std::int32_t down() const noexcept { return divided_up(mcus.height, segment.height); }
};

std::optional<Grid> grid_of(jpeg_decompress_struct& info) {
  if (info.restart_interval == 0 || jpeg_has_multiple_scans(&info)) return std::nullopt;
  Grid grid;
  // If a scan has only one component, each MCU is one block, whatever the sampling factors.
  const bool alone = info.num_components == 1;
  grid.mcu = {DCTSIZE * (alone ? 1 : info.max_v_samp_factor), DCTSIZE * (alone ? 1 : info.max_h_samp_factor)};
  grid.mcus = {divided_up(static_cast<std::int32_t>(info.image_height), grid.mcu.height),
               divided_up(static_cast<std::int32_t>(info.image_width), grid.mcu.width)};
  const auto interval = static_cast<std::int32_t>(info.restart_interval);
  if (grid.mcus.width % interval == 0) {
    grid.segment = {1, interval};
  } else if (interval % grid.mcus.width == 0) {
    grid.segment = {interval / grid.mcus.width, grid.mcus.width};
  } else {
    return std::nullopt;
  }
  return grid;
}

// Returns, along one axis, the MCUs of the segments that the pixels from `begin` to `end` and their margin need.
Range needed(std::int32_t begin, std::int32_t end, std::int32_t mcu, std::int32_t mcus, std::int32_t segment) {
  const std::int32_t unit = mcu * segment;
  return {std::max(0, begin - upsampling_margin) / unit * segment,
          std::min(mcus, divided_up(end + upsampling_margin, unit) * segment)};
}

bool has_usual_header(std::span<const std::uint8_t> header) {
  int frames = 0;
  const bool usual = for_each_marker(header, [&](const Marker& marker) { frames += is_frame(marker) ? 1 : 0; });
  return usual && frames == 1;
}

// Finds the segments of a scan, and checks that the scan has the segments that the image's size requires.
class Finder {
 public:
  Finder(const Reader& reader, const Grid& grid)
      : bytes_(reader.bytes()), scan_(static_cast<std::size_t>(reader.offset())), grid_(grid) {}

  // Refuses a file that is too short for its segments. Each segment takes at least one byte. A marker of two bytes
  // follows each segment except the last one.
  void check_count() const {
    const std::uint64_t segments = std::uint64_t(grid_.across()) * std::uint64_t(grid_.down());
    if (segments * 3 > bytes_.size() - scan_ + 2)
      throw Error(Errc::corrupt, "the JPEG's size and restart interval ask for " + std::to_string(segments) +
                                     " segments, more than there can be in its " + std::to_string(bytes_.size()) +
                                     " bytes: it is cut off, or the header is damaged")
          .with_offset(scan_);
  }

  // Writes the segments of the given MCUs to `extents`.
  void find(Range columns, Range rows, Extent* extents) const {
    const std::int32_t across = grid_.across(), down = grid_.down();
    const Range wide{columns.first / grid_.segment.width, columns.end / grid_.segment.width};
    std::uint32_t number = 0;
    std::size_t at = scan_;
    for (std::int32_t y = 0; y < down; ++y) {
      const bool in_rows = rows.holds(y * grid_.segment.height);
      for (std::int32_t x = 0; x < across; ++x, ++number) {
        const std::optional<Marker> marker = next_marker(bytes_, at);
        if (!marker) refuse_end();
        const bool last = y + 1 == down && x + 1 == across;
        if (!last && marker->code != (restart_0 | (number & 7))) refuse(*marker, number);
        if (in_rows && wide.holds(x)) *extents++ = {at, marker->begin};
        at = marker->end;
        if (last) check_end(*marker);
      }
    }
  }

 private:
  // Accepts restart markers directly before the end marker, which do no harm.
  void check_end(Marker marker) const {
    while (marker.code >= restart_0 && marker.code <= restart_7) {
      const std::optional<Marker> next = next_marker(bytes_, marker.end);
      if (!next) refuse_end();
      if (next->begin != marker.end)
        throw Error(Errc::corrupt,
                    "the JPEG has more restart markers than its size and restart interval ask for: the "
                    "header, or the data, is damaged")
            .with_offset(marker.begin);
      marker = *next;
    }
  }

  [[noreturn]] void refuse_end() const {
    throw Error(Errc::corrupt, "the JPEG ends before its image does: it is cut off").with_offset(bytes_.size());
  }

  [[noreturn]] static void refuse(const Marker& marker, std::uint32_t number) {
    const auto code_text = [](unsigned code) {
      constexpr char digits[] = "0123456789ABCDEF";
      return std::string("FF ") + digits[code >> 4] + digits[code & 15];
    };
    throw Error(Errc::corrupt, "segment " + std::to_string(number) + " of the JPEG ends with the marker " +
                                   code_text(marker.code) + " instead of the restart marker " +
                                   code_text(restart_0 | (number & 7)) + ": data is missing, or damaged")
        .with_offset(marker.begin);
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t scan_;  // where the Huffman-coded data begins
  const Grid& grid_;
};

// Finding the markers and copying segments costs about as much as decoding a hundredth of the file. Reading a second
// header costs about as much as decoding a few MCUs. So segments pay only if they save a sixteenth of the MCUs, and at
// least 8 MCUs.
bool pays(std::int64_t needed, std::int64_t otherwise) {
  return otherwise - needed >= std::max<std::int64_t>(8, otherwise / 16);
}

}  // namespace

std::optional<Segments> needed_segments(Reader& reader, const Box& box, Scratch& scratch) {
  const std::optional<Grid> grid = grid_of(reader.info());
  if (!grid) return std::nullopt;
  const std::int32_t reduced = reader.denominator();
  Range columns =
      needed(box.left, box.left + box.width, grid->mcu.width / reduced, grid->mcus.width, grid->segment.width);
  const Range rows =
      needed(box.top, box.top + box.height, grid->mcu.height / reduced, grid->mcus.height, grid->segment.height);
  // The last MCU may be so narrow that libjpeg would not upsample it smoothly if it were the whole image.
  if (columns.size() == 1 && columns.first > 0) columns.first -= grid->segment.width;
  if (!pays(std::int64_t{columns.size()} * rows.size(), std::int64_t{grid->mcus.width} * rows.end)) return std::nullopt;
  if (!has_usual_header(reader.bytes().first(static_cast<std::size_t>(reader.offset())))) return std::nullopt;
  const Finder finder(reader, *grid);
  finder.check_count();
  const auto count = static_cast<std::size_t>(columns.size() / grid->segment.width) *
                     static_cast<std::size_t>(divided_up(rows.size(), grid->segment.height));
  auto* const extents = reinterpret_cast<Extent*>(scratch.allocate(count * sizeof(Extent)));
  finder.find(columns, rows, extents);
  return Segments{grid->mcu, grid->segment, columns, rows, {extents, count}};
}

}  // namespace penstock::jpeg
