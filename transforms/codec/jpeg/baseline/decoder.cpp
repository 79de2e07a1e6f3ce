// SPDX-License-Identifier: Apache-2.0
#include "decoder.hpp"

#include <algorithm>

#include "planes.hpp"
#include "row_maker.hpp"
#include "scan_walk.hpp"

namespace penstock::jpeg::baseline {

namespace {

// The MCUs that the pixels of a box are made of.
struct Needed {
  Range columns, rows;
  int rows_read;  // rows of MCUs that libjpeg reads for the box, from the image's first row on
};

Needed needed(const Frame& frame, const Upsampling& upsampling, const Box& box) {
  const int width = frame.mcu_width(), height = frame.mcu_height();
  const int right = box.left + box.width, last = box.top + box.height - 1;
  Needed of;
  // If a value of chroma is two pixels wide, pixels also depend on the next value on each side.
  const int margin = upsampling.across == 2 ? 2 : 0;
  of.columns.first = std::max(0, box.left / 2 * 2 - margin) / width;
  of.columns.end = std::min(frame.mcus_across, (right + margin + width - 1) / width);
  const bool above = upsampling.looks_at_rows() && box.top % 2 == 0,
             below = upsampling.looks_at_rows() && last % 2 == 1;
  of.rows.first = std::max(0, box.top - (above ? 1 : 0)) / height;
  of.rows.end = std::min(frame.height - 1, last + (below ? 1 : 0)) / height + 1;
  // If chroma is interpolated between rows, libjpeg reads the next row of MCUs before it returns the last two pixel
  // rows of a row of MCUs. If there is only one component, it reads `alone_v` rows of MCUs together.
  of.rows_read = of.rows.end;
  if (upsampling.looks_at_rows() && last % height >= height - 2)
    of.rows_read = std::min(frame.mcus_down, last / height + 2);
  if (frame.components == 1)
    of.rows_read = std::min(frame.mcus_down, (last / height / frame.alone_v + 1) * frame.alone_v);
  return of;
}

// Walks through rows of MCUs. If there are segments, walks only through the parts of rows that are in the segments.
class RowWalk {
 public:
  RowWalk(const Frame& frame, const Segments* segments, Range columns, ScanWalk& walk)
      : segments_(segments), whole_{0, frame.mcus_across}, columns_(columns), walk_(walk) {}

  // Walks through the next row, which is `row`. Decodes its MCUs in `columns`, and calls `put(first, some, blocks)`
  // with the blocks of `some` MCUs. `first` is the number of columns before them, counted from the first of `columns`.
  template <class Put>
  void decode(int row, Put&& put) {
    for_parts(row, [&](Range part) {
      const Range decoded{std::clamp(columns_.first, part.first, part.end),
                          std::clamp(columns_.end, part.first, part.end)};
      walk_.skip(decoded.first - part.first);
      walk_.decode(decoded.size(), [&](int first, int some, Block* blocks) {
        put(decoded.first - columns_.first + first, some, blocks);
      });
      walk_.skip(part.end - decoded.end);
    });
  }

  void skip(int row) {
    for_parts(row, [&](Range part) { walk_.skip(part.size()); });
  }

 private:
  template <class Each>
  void for_parts(int row, Each&& each) {
    if (segments_ == nullptr) return each(whole_);
    const Size& size = segments_->size;
    for (int x = segments_->columns.first; x < segments_->columns.end && !walk_.stopped(); x += size.width) {
      if ((row - segments_->rows.first) % size.height == 0) {
        // The walk is at the first segment already, so it jumps only to the others.
        if (next_ != 0) walk_.jump(segments_->extents[next_].begin);
        ++next_;
      }
      each({x, x + size.width});
    }
  }

  const Segments* segments_;
  Range whole_, columns_;
  ScanWalk& walk_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<HandOverReason> Decoder::begin(const jpeg_decompress_struct& info) {
  gray_ = info.out_color_space == JCS_GRAYSCALE;
  return Frame::read(info, tables_, frame_);
}

std::optional<HandOverReason> Decoder::decode(std::span<const std::uint8_t> bytes, std::size_t scan,
                                              const Request& request, Scratch& scratch) {
  if (!blocks_) blocks_ = std::make_unique<Block[]>(ScanReader::most_blocks);
  const Box& box = request.box;
  const Upsampling upsampling(frame_, gray_);
  const Needed of = needed(frame_, upsampling, box);
  Planes planes(frame_, of.columns.first, of.columns.end, gray_, scratch);
  const PixelRowMaker rows(frame_, planes, upsampling, gray_, of.columns.first * frame_.mcu_width(), box.left,
                           box.width, scratch);

  const Segments* const segments = request.segments;
  Range walked{0, request.to_end ? frame_.mcus_down : of.rows_read};
  if (segments != nullptr) {
    walked = segments->rows;
    scan = segments->extents.front().begin;
  }
  ScanWalk walk(frame_, bytes, scan, reader_, blocks_.get());
  RowWalk of_rows(frame_, segments, of.columns, walk);
  int y = box.top;
  for (int row = walked.first; row < walked.end && !walk.stopped(); ++row) {
    if (!of.rows.holds(row)) {
      of_rows.skip(row);
      continue;
    }
    of_rows.decode(row, [&](int first, int some, Block* blocks) { planes.put(row, first, some, blocks); });
    if (walk.stopped()) break;
    if (!planes.usual()) return HandOverReason::range;
    // If chroma is interpolated between rows, the last pixel row of a row of MCUs can't be made before the values below
    // it are decoded.
    const int below = upsampling.looks_at_rows() ? 1 : 0;
    const int made = row + 1 == frame_.mcus_down ? frame_.height : (row + 1) * frame_.mcu_height() - below;
    for (const int until = std::min(made, box.top + box.height); y < until; ++y)
      rows.make(y, request.pixels + request.stride * (y - box.top));
  }
  if (segments != nullptr) walk.ends_segment();
  request.to_end ? walk.ends_image() : walk.sound();
  return walk.stopped();
}

}  // namespace penstock::jpeg::baseline
