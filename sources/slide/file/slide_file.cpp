#include "file/slide_file.hpp"

#include <cerrno>
#include <span>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>

#include "file/errors.hpp"
#include "file/identity/other_files.hpp"
#include "file/openslide/openslide_levels.hpp"
#include "file/tiff/tiff_levels.hpp"

namespace penstock::slide {

namespace {

// Takes so many bytes from what is left, where there are as many.
bool take_bytes(std::atomic<std::size_t>& left, std::uint64_t bytes) {
  std::size_t there = left.load();
  do {
    if (bytes > there) return false;
  } while (!left.compare_exchange_weak(there, there - static_cast<std::size_t>(bytes)));
  return true;
}

void keep_tile_places(SlideFile& slide, int descriptor, std::atomic<std::size_t>& keep_left) {
  const Level& level = slide.level;
  const std::uint64_t each = level.tile_offsets.element_bytes + level.tile_bytes.element_bytes;
  if (level.tiles() > keep_left.load() / each || !take_bytes(keep_left, level.tiles() * each)) return;
  const auto read = [&](const StoredArray& array) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(level.tiles() * array.element_bytes));
    if (read_whole(descriptor, bytes, array.offset) == bytes.size()) return bytes;
    if (errno != 0) throw system_error(errno, "reading where its tiles lie", slide.path);
    throw error_in(slide.path, Errc::io, "the file became shorter while it was read");
  };
  slide.kept_offsets = read(level.tile_offsets);
  slide.kept_sizes = read(level.tile_bytes);
}

// Its tiles, where we read them; else OpenSlide has to.
Pyramid read_pyramid(SlideFile& slide, int descriptor) {
  try {
    return read_tiff(descriptor, slide.path, slide.sample.bytes);
  } catch (const NeedsOpenSlide& refused) {
    const OpenSlideLibrary* const library = openslide_library();
    slide.openslide = openslide_version();
    if (library == nullptr) throw error_in(slide.path, refused.code, refused.why + ". " + without_openslide());
    try {
      Pyramid pyramid = read_through_openslide(*library, slide.path, refused.tiles);
      slide.why_openslide = refused.why;
      const double magnification = pyramid.resolution.magnification;
      if (pyramid.resolution.mpp_x == 0) pyramid.resolution = refused.resolution;
      if (magnification != 0) pyramid.resolution.magnification = magnification;
      if (refused.ome) pyramid.unread_images = unread_images(*refused.ome, std::span(pyramid.levels).subspan(1));
      return pyramid;
    } catch (const Error& failed) {
      if (!failed.sample_scoped()) throw;
      throw error_in(slide.path, refused.code, refused.why + ". " + failed.cause());
    }
  }
}

// Somebody knows better than the file.
void take_override(Resolution& resolution, double mpp) {
  if (mpp == 0) return;
  resolution.mpp_x = resolution.mpp_y = mpp;
  resolution.refused.clear();
  // What the file says of the objective would contradict it.
  resolution.magnification = 0;
}

}  // namespace

SlideFile open_slide(const std::string& path, std::size_t number, const SlideWish& wish,
                     std::atomic<std::size_t>& keep_left) {
  SlideFile slide;
  slide.path = path;
  slide.number = number;
  slide.wish = wish;
  try {
    const auto file = open_file(path);
    slide.mark = mark_of(file->get(), path);
    slide.sample = sample_of(file->get(), path);
    slide.others = sample_of_all(wish.other_files);
    Pyramid pyramid = read_pyramid(slide, file->get());
    slide.missing_levels = pyramid.missing;
    slide.unread_images = std::move(pyramid.unread_images);
    for (const Level& level : pyramid.levels)
      if (slide.missing_levels.empty()) slide.missing_levels = level.unreadable;
    for (const Level& level : pyramid.levels)
      slide.levels.push_back({level.width, level.height, level.tile_width, level.tile_height});
    slide.bounds = pyramid.bounds;
    slide.resolution = std::move(pyramid.resolution);
    take_override(slide.resolution, wish.own_mpp);
    if (slide.resolution.mpp_x == 0 && wish.assumed_mpp != 0)
      slide.resolution.mpp_x = slide.resolution.mpp_y = wish.assumed_mpp;
    Choice choice;
    try {
      choice = choose_level(wish.wanted, pyramid.levels, slide.resolution, pyramid.missing);
    } catch (const Error& failed) {
      throw error_in(path, failed.code(), failed.cause());
    }
    if (wish.mask_mpp != 0) slide.mask_source = choose_mask_source(pyramid.levels, slide.resolution, wish.mask_mpp);
    if (wish.all_levels) slide.all_levels = pyramid.levels;
    slide.level_number = choice.level;
    slide.scale = choice.scale;
    slide.level = std::move(pyramid.levels[choice.level]);
    if (slide.level.codec != SlideCodec::openslide) keep_tile_places(slide, file->get(), keep_left);
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    slide.failure = failed;
  }
  return slide;
}

void check_against_file(const SlideFile& slide) {
  SlideWish wish = slide.wish;
  wish.mask_mpp = 0;
  std::atomic<std::size_t> keep_nothing = 0;
  const SlideFile found = open_slide(slide.path, slide.number, wish, keep_nothing);
  if (found.failure) throw Error(*found.failure);
  if (found.sample != slide.sample || found.others != slide.others) throw changed_error(slide.path);
  const auto refuse_unless = [&](bool same, const char* what) {
    if (!same)
      throw error_in(
          slide.path, Errc::corrupt,
          std::string("the index has another ") + what + " of this slide than its file; make the index anew");
  };
  refuse_unless(found.levels == slide.levels, "list of levels");
  refuse_unless(found.resolution.mpp_x == slide.resolution.mpp_x && found.resolution.mpp_y == slide.resolution.mpp_y &&
                    found.resolution.magnification == slide.resolution.magnification,
                "size of pixels");
  refuse_unless(found.level_number == slide.level_number && found.level == slide.level, "level to read");
  refuse_unless(found.scale == slide.scale, "size of the image");
}

SlideFile at_level(const SlideFile& slide, std::size_t number, const Level& level) {
  SlideFile other = slide;
  other.level_number = number;
  other.level = level;
  other.kept_offsets.clear();
  other.kept_sizes.clear();
  return other;
}

}  // namespace penstock::slide
