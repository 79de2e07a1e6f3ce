// SPDX-License-Identifier: Apache-2.0
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

// Takes `bytes` from `left`. Returns false, and takes nothing, if fewer are left.
bool take_bytes(std::atomic<std::size_t>& left, std::uint64_t bytes) {
  std::size_t there = left.load();
  do {
    if (bytes > there) return false;
  } while (!left.compare_exchange_weak(there, there - static_cast<std::size_t>(bytes)));
  return true;
}

void keep_tile_places(SlideFile& slide, int descriptor, std::atomic<std::size_t>& keep_left) {
  const Level& level = slide.image.level;
  const std::uint64_t each = level.tile_offsets.element_bytes + level.tile_bytes.element_bytes;
  if (level.stored_tiles() > keep_left.load() / each || !take_bytes(keep_left, level.stored_tiles() * each)) return;
  const auto read = [&](const StoredArray& array) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(level.stored_tiles() * array.element_bytes));
    if (read_whole(descriptor, bytes, array.offset) == bytes.size()) return bytes;
    if (errno != 0) throw system_error(errno, "reading where its tiles lie", slide.path);
    throw error_in(slide.path, Errc::io, "the file became shorter while it was read");
  };
  slide.image.kept_offsets = read(level.tile_offsets);
  slide.image.kept_sizes = read(level.tile_bytes);
}

// Describes the slide from its TIFF directories if this library can read its tiles. Otherwise asks OpenSlide.
Pyramid read_pyramid(SlideFile& slide, int descriptor) {
  try {
    return read_tiff(descriptor, slide.path, slide.sample.bytes);
  } catch (const NeedsOpenSlide& refused) {
    const OpenSlideLibrary* const library = openslide_library();
    slide.found.openslide = openslide_version();
    if (library == nullptr) throw error_in(slide.path, refused.code, refused.why + ". " + without_openslide());
    try {
      Pyramid pyramid = read_through_openslide(*library, slide.path, refused.tiles);
      slide.found.why_openslide = refused.why;
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

// Replaces the file's size of a pixel by the user's size `mpp`. 0: the user gave none.
void take_override(Resolution& resolution, double mpp) {
  if (mpp == 0) return;
  resolution.mpp_x = resolution.mpp_y = mpp;
  resolution.refused.clear();
  // The file's magnification may contradict the user's size.
  resolution.magnification = 0;
}

}  // namespace

SlideFile open_slide(const std::string& path, std::size_t number, const SlideOpenOptions& settings,
                     std::atomic<std::size_t>& keep_left) {
  SlideFile slide;
  slide.path = path;
  slide.number = number;
  slide.settings = settings;
  try {
    const auto file = open_file(path);
    slide.mark = mark_of(file->get(), path);
    slide.sample = sample_of(file->get(), path);
    slide.others = sample_of_all(settings.other_files);
    Pyramid pyramid = read_pyramid(slide, file->get());
    slide.found.missing_levels = pyramid.missing;
    slide.found.unread_images = std::move(pyramid.unread_images);
    for (const Level& level : pyramid.levels)
      if (slide.found.missing_levels.empty()) slide.found.missing_levels = level.unreadable;
    for (const Level& level : pyramid.levels)
      slide.found.levels.push_back({level.width, level.height, level.tile_width, level.tile_height});
    slide.found.bounds = pyramid.bounds;
    slide.found.resolution = std::move(pyramid.resolution);
    take_override(slide.found.resolution, settings.own_mpp);
    if (slide.found.resolution.mpp_x == 0 && settings.assumed_mpp != 0)
      slide.found.resolution.mpp_x = slide.found.resolution.mpp_y = settings.assumed_mpp;
    ScaleChoice choice;
    try {
      choice = choose_level(settings.wanted, pyramid.levels, slide.found.resolution, pyramid.missing);
    } catch (const Error& failed) {
      throw error_in(path, failed.code(), failed.cause());
    }
    if (settings.mask_mpp != 0)
      slide.mask_source = choose_mask_source(pyramid.levels, slide.found.resolution, settings.mask_mpp);
    if (settings.all_levels) slide.all_levels = pyramid.levels;
    slide.image.level_number = choice.level;
    slide.image.scale = choice.scale;
    slide.image.level = std::move(pyramid.levels[choice.level]);
    if (slide.image.level.codec != SlideCodec::openslide) keep_tile_places(slide, file->get(), keep_left);
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    slide.failure = failed;
  }
  return slide;
}

void check_against_file(const SlideFile& slide) {
  SlideOpenOptions settings = slide.settings;
  settings.mask_mpp = 0;
  std::atomic<std::size_t> keep_nothing = 0;
  const SlideFile there = open_slide(slide.path, slide.number, settings, keep_nothing);
  if (there.failure) throw Error(*there.failure);
  if (there.sample != slide.sample || there.others != slide.others) throw changed_error(slide.path);
  const auto refuse_unless = [&](bool same, const char* what) {
    if (!same)
      throw error_in(
          slide.path, Errc::corrupt,
          std::string("the index has another ") + what + " of this slide than its file; make the index anew");
  };
  refuse_unless(there.found.levels == slide.found.levels, "list of levels");
  refuse_unless(there.found.resolution.mpp_x == slide.found.resolution.mpp_x &&
                    there.found.resolution.mpp_y == slide.found.resolution.mpp_y &&
                    there.found.resolution.magnification == slide.found.resolution.magnification,
                "size of pixels");
  refuse_unless(there.image.level_number == slide.image.level_number && there.image.level == slide.image.level,
                "level to read");
  refuse_unless(there.image.scale == slide.image.scale, "size of the image");
}

SlideFile at_level(const SlideFile& slide, std::size_t number, const Level& level) {
  SlideFile other = slide;
  other.image.level_number = number;
  other.image.level = level;
  other.image.kept_offsets.clear();
  other.image.kept_sizes.clear();
  return other;
}

}  // namespace penstock::slide
