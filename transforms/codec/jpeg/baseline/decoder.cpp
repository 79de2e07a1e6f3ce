#include "decoder.hpp"

#include <algorithm>

#include "planes.hpp"
#include "row_maker.hpp"
#include "scan_walk.hpp"

namespace penstock::jpeg::baseline {

namespace {

// From `first` to before `end`.
struct Range {
  int first, end;
};

// The MCUs whose values the pixels of a box are made of.
struct Needed {
  Range columns, rows;
  int rows_read;  // by libjpeg, from the first one of the image on
};

Needed needed(const Frame& frame, const Upsampling& upsampling, const Box& box) {
  const int width = frame.mcu_width(), height = frame.mcu_height();
  const int right = box.left + box.width, last = box.top + box.height - 1;
  Needed of;
  // A value of chroma on each side.
  const int margin = upsampling.across == 2 ? 2 : 0;
  of.columns.first = std::max(0, box.left / 2 * 2 - margin) / width;
  of.columns.end = std::min(frame.mcus_across, (right + margin + width - 1) / width);
  const bool above = upsampling.looks_at_rows() && box.top % 2 == 0, below = upsampling.looks_at_rows() && last % 2 == 1;
  of.rows.first = std::max(0, box.top - (above ? 1 : 0)) / height;
  of.rows.end = std::min(frame.height - 1, last + (below ? 1 : 0)) / height + 1;
  // libjpeg has read one more row of MCUs when it gives the last two rows of one, and several of a single component
  // together.
  of.rows_read = of.rows.end;
  if (upsampling.looks_at_rows() && last % height >= height - 2)
    of.rows_read = std::min(frame.mcus_down, last / height + 2);
  if (frame.components == 1)
    of.rows_read = std::min(frame.mcus_down, (last / height / frame.alone_v + 1) * frame.alone_v);
  return of;
}

}  // namespace

std::optional<HandOver> Decoder::decode(const jpeg_decompress_struct& info, std::span<const std::uint8_t> bytes,
                                        std::size_t scan, const Request& request, Scratch& scratch) {
  if (const auto reason = Frame::read(info, tables_, frame_)) return reason;
  if (!blocks_) blocks_ = std::make_unique<Block[]>(ScanReader::most_blocks);
  const bool gray = info.out_color_space == JCS_GRAYSCALE;
  const Box& box = request.box;
  const Upsampling upsampling(frame_, gray);
  const Needed of = needed(frame_, upsampling, box);
  const int mcus = of.columns.end - of.columns.first, height = frame_.mcu_height();
  Planes planes(frame_, of.columns.first, of.columns.end, gray, scratch);
  const RowMaker rows(frame_, planes, upsampling, gray, of.columns.first * frame_.mcu_width(), box.left, box.width,
                      scratch);

  ScanWalk walk(frame_, bytes, scan, reader_, blocks_.get());
  for (int row = 0; row < of.rows.first && !walk.stopped(); ++row) walk.skip(frame_.mcus_across);
  int y = box.top;
  for (int row = of.rows.first; row < of.rows.end; ++row) {
    walk.skip(of.columns.first);
    walk.decode(mcus, [&](int first, int some, Block* blocks) { planes.put(row, first, some, blocks); });
    walk.skip(frame_.mcus_across - of.columns.end);
    if (walk.stopped()) return walk.stopped();
    if (!planes.usual()) return HandOver::range;
    // The last row waits for the values below it.
    const int below = upsampling.looks_at_rows() ? 1 : 0;
    const int made = row + 1 == frame_.mcus_down ? frame_.height : (row + 1) * height - below;
    for (const int until = std::min(made, box.top + box.height); y < until; ++y)
      rows.make(y, request.pixels + request.stride * (y - box.top));
  }
  const int last_row = request.to_end ? frame_.mcus_down : of.rows_read;
  for (int row = of.rows.end; row < last_row && !walk.stopped(); ++row) walk.skip(frame_.mcus_across);
  if (request.to_end ? !walk.ends_image() : !walk.sound()) return walk.stopped();
  return std::nullopt;
}

}  // namespace penstock::jpeg::baseline
