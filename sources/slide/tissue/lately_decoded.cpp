#include "tissue/lately_decoded.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "file/errors.hpp"

namespace penstock::slide {

LatelyDecoded::LatelyDecoded(LevelReaders& readers, const SlideFile& slide) : readers_(readers), slide_(slide) {
  constexpr std::size_t most_bytes = std::size_t{8} << 20, most = 8;
  if (slide.level.codec != SlideCodec::openslide) open_ = readers.tiles.open(slide);
  lately_.resize(open_ ? std::clamp(most_bytes / slide.level.pixel_bytes(), std::size_t{1}, most) : 1);
}

const std::byte* LatelyDecoded::find(const SlideBox& box) {
  if (!open_) return nullptr;
  const Level& level = slide_.level;
  const auto column = static_cast<std::uint64_t>(box.x / level.tile_width),
             row = static_cast<std::uint64_t>(box.y / level.tile_height);
  TileReader::find(*open_, row * level.tile_columns() + column, {&place_, 1});
  if (place_.is_left_out()) return nullptr;
  for (const Decoded& one : lately_)
    if (one.place == place_ && one.width == box.width && one.height == box.height) return one.pixels.data();
  constexpr std::uint64_t most_times = 16;
  bytes_ += std::min(place_.bytes, slide_.sample.bytes);
  if (bytes_ > most_times * slide_.sample.bytes)
    throw error_in(slide_.path, Errc::corrupt,
                   "the tiles of level " + std::to_string(slide_.level_number) + " have more than " +
                       std::to_string(bytes_) + " bytes together, the file only " +
                       std::to_string(slide_.sample.bytes) + ": many of them lie at the same places");
  return nullptr;
}

const std::byte* LatelyDecoded::decode(const SlideBox& box, Scratch& scratch) {
  constexpr std::array<std::uint8_t, 3> white{255, 255, 255};
  Decoded& one = lately_[next_];
  next_ = (next_ + 1) % lately_.size();
  one.place = {};
  one.pixels.resize(static_cast<std::size_t>(box.width * box.height) * 3);
  LevelPixels(readers_, slide_, box, {})
      .read(box, false, white, {one.pixels.data(), box.width * 3, box.x, box.y}, scratch);
  if (open_) one.place = place_;
  one.width = box.width;
  one.height = box.height;
  return one.pixels.data();
}

}  // namespace penstock::slide
