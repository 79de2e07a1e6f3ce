#include "excerpt.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "markers.hpp"

namespace penstock::jpeg {

namespace {

constexpr std::int32_t divided_up(std::int32_t a, std::int32_t b) { return (a + b - 1) / b; }

// A row of MCUs, or of pixels: [first, end).
struct Range {
  std::int32_t first, end;
  std::int32_t size() const noexcept { return end - first; }
  bool holds(std::int32_t i) const noexcept { return i >= first && i < end; }
};

// How restart markers divide an image.
struct Grid {
  Size mcu;      // in pixels
  Size mcus;     // of the image
  Size segment;  // in MCUs: a part of a row of them, or some whole rows

  // Segments.
  std::int32_t across() const noexcept { return mcus.width / segment.width; }
  std::int32_t down() const noexcept { return divided_up(mcus.height, segment.height); }
};

std::optional<Grid> grid_of(jpeg_decompress_struct& info) {
  if (info.restart_interval == 0 || jpeg_has_multiple_scans(&info)) return std::nullopt;
  Grid grid;
  // The only component of a scan comes block by block, whatever its sampling factors.
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

// Along one axis: the MCUs of the segments that the pixels from `begin` to `end` and their margin are in.
Range needed(std::int32_t begin, std::int32_t end, std::int32_t mcu, std::int32_t mcus, std::int32_t segment) {
  const std::int32_t unit = mcu * segment;
  return {std::max(0, begin - upsampling_margin) / unit * segment,
          std::min(mcus, divided_up(end + upsampling_margin, unit) * segment)};
}

class Builder {
 public:
  Builder(Reader& reader, const Grid& grid, Range columns, Range rows)
      : bytes_(reinterpret_cast<const std::uint8_t*>(reader.encoded().data()), reader.encoded().size()),
        scan_(static_cast<std::size_t>(reader.offset())),
        grid_(grid),
        columns_(columns),
        rows_(rows) {
    const auto end_of = [](std::int32_t mcus, std::int32_t mcu, JDIMENSION side) {
      return std::min(mcus * mcu, static_cast<std::int32_t>(side));
    };
    shows_.top = rows.first * grid.mcu.height;
    shows_.left = columns.first * grid.mcu.width;
    shows_.height = end_of(rows.end, grid.mcu.height, reader.info().image_height) - shows_.top;
    shows_.width = end_of(columns.end, grid.mcu.width, reader.info().image_width) - shows_.left;
  }

  std::optional<Excerpt> build(Scratch& scratch) {
    const std::optional<std::size_t> header = header_bytes();
    if (!header) return std::nullopt;
    check_count();
    const std::size_t room = *header + (bytes_.size() - scan_) + 2;
    std::byte* const first = scratch.allocate(room);
    out_ = reinterpret_cast<std::uint8_t*>(first);
    put_header();
    put_segments();
    return Excerpt{{first, reinterpret_cast<std::byte*>(out_)}, shows_};
  }

 private:
  // What libjpeg needs to know of the image, also to tell what its colours mean.
  static bool kept(std::uint8_t code) {
    switch (code) {
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

  // Calls `each` with every marker of the header. False where it is not of the usual form.
  bool for_each_marker(const auto& each) const {
    Marker marker{.end = 2};
    do {
      const std::optional<Marker> next = header_marker(bytes_.first(scan_), marker.end);
      if (!next) return false;
      marker = *next;
      each(marker);
    } while (marker.end < scan_);
    return marker.code == start_of_scan;
  }

  std::optional<std::size_t> header_bytes() const {
    std::size_t bytes = 2;
    int frames = 0;
    const bool usual = for_each_marker([&](const Marker& marker) {
      if (kept(marker.code)) bytes += marker.end - marker.begin;
      frames += marker.code == baseline_frame || marker.code == extended_frame;
    });
    return usual && frames == 1 ? std::optional(bytes) : std::nullopt;
  }

  void put_header() {
    put_marker(start_of_image);
    for_each_marker([this](const Marker& marker) {
      if (!kept(marker.code)) return;
      put(marker.begin, marker.end);
      if (marker.code != baseline_frame && marker.code != extended_frame) return;
      // After the code: length (2 bytes), precision (1), height (2), width (2).
      std::size_t code = marker.begin;
      while (bytes_[code] == 0xff) ++code;
      std::uint8_t* const size = out_ - (marker.end - code) + 4;
      size[0] = static_cast<std::uint8_t>(shows_.height >> 8), size[1] = static_cast<std::uint8_t>(shows_.height);
      size[2] = static_cast<std::uint8_t>(shows_.width >> 8), size[3] = static_cast<std::uint8_t>(shows_.width);
    });
  }

  // A segment takes a byte at least, and a marker, but for the last one.
  void check_count() const {
    const std::uint64_t segments = std::uint64_t(grid_.across()) * std::uint64_t(grid_.down());
    if (segments * 3 > bytes_.size() - scan_ + 2)
      throw Error(Errc::corrupt, "the JPEG's size and restart interval ask for " + std::to_string(segments) +
                                     " segments, more than there can be in its " + std::to_string(bytes_.size()) +
                                     " bytes: it is cut off, or the header is damaged")
          .with_offset(scan_);
  }

  void put_segments() {
    const std::int32_t across = grid_.across(), down = grid_.down();
    const Range wide{columns_.first / grid_.segment.width, columns_.end / grid_.segment.width};
    std::uint32_t number = 0, copied = 0;
    std::size_t at = scan_;
    for (std::int32_t y = 0; y < down; ++y) {
      const bool in_rows = rows_.holds(y * grid_.segment.height);
      for (std::int32_t x = 0; x < across; ++x, ++number) {
        const std::optional<Marker> marker = next_marker(bytes_, at);
        if (!marker) refuse_end();
        const bool last = y + 1 == down && x + 1 == across;
        if (!last && marker->code != (restart_0 | (number & 7))) refuse(*marker, number);
        if (in_rows && wide.holds(x)) {
          if (copied != 0) put_marker(static_cast<std::uint8_t>(restart_0 | ((copied - 1) & 7)));
          put(at, marker->begin);
          ++copied;
        }
        at = marker->end;
        if (last) check_end(*marker);
      }
    }
    put_marker(end_of_image);
  }

  // A restart marker at the very end is of no use, and no harm.
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
  Grid grid_;
  Range columns_, rows_;  // of MCUs
  Box shows_;
  std::uint8_t* out_ = nullptr;
};

// Finding the markers and copying costs about as much as decoding a hundredth of the file; a header, a few MCUs.
bool pays(std::int64_t needed, std::int64_t otherwise) {
  return otherwise - needed >= std::max<std::int64_t>(8, otherwise / 16);
}

}  // namespace

std::optional<Excerpt> excerpt(Reader& reader, const Box& box, Scratch& scratch) {
  const std::optional<Grid> grid = grid_of(reader.info());
  if (!grid) return std::nullopt;
  Range columns = needed(box.left, box.left + box.width, grid->mcu.width, grid->mcus.width, grid->segment.width);
  const Range rows = needed(box.top, box.top + box.height, grid->mcu.height, grid->mcus.height, grid->segment.height);
  // The last MCU may be so narrow that libjpeg would not upsample it smoothly, were it alone.
  if (columns.size() == 1 && columns.first > 0) columns.first -= grid->segment.width;
  if (!pays(std::int64_t{columns.size()} * rows.size(), std::int64_t{grid->mcus.width} * rows.end)) return std::nullopt;
  return Builder(reader, *grid, columns, rows).build(scratch);
}

}  // namespace penstock::jpeg
