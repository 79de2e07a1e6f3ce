// SPDX-License-Identifier: Apache-2.0
#include "index/entry.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "file/entry_bytes.hpp"

namespace penstock::slide {

namespace {

void put(EntryWriter& to, const EntryKey& key) {
  to.put(std::string_view(key.name));
  to.put(key.sample.bytes);
  to.put(key.sample.hash);
  to.put(key.others.bytes);
  to.put(key.others.hash);
  to.put(key.own_mpp);
  to.put(key.list);
  to.put(key.regions);
  to.put(std::string_view(key.openslide));
  to.put(key.failed);
}

EntryKey key_in(EntryReader& from) {
  EntryKey key;
  key.name = from.text();
  key.sample.bytes = from.get<std::uint64_t>();
  key.sample.hash = from.get<std::uint64_t>();
  key.others.bytes = from.get<std::uint64_t>();
  key.others.hash = from.get<std::uint64_t>();
  key.own_mpp = from.get<double>();
  key.list = from.get<std::uint64_t>();
  key.regions = from.get<std::uint64_t>();
  key.openslide = from.text();
  key.failed = from.truth();
  return key;
}

void put(EntryWriter& to, const Error& failure) {
  to.put(failure.code());
  to.put(std::string_view(failure.source()));
  to.put(std::string_view(failure.file()));
  to.put(std::string_view(failure.cause()));
  to.put(failure.offset().has_value());
  to.put(failure.offset().value_or(0));
}

Error failure_in(EntryReader& from) {
  const auto code = from.get<Errc>();
  const std::string source = from.text(), file = from.text(), cause = from.text();
  Error failure(code, cause);
  failure.with_source(source).with_file(file);
  const bool has_offset = from.truth();
  const auto offset = from.get<std::uint64_t>();
  if (has_offset) failure.with_offset(offset);
  return failure;
}

void put(EntryWriter& to, const StoredArray& array) {
  to.put(array.offset);
  to.put(array.count);
  to.put(array.element_bytes);
}

StoredArray array_in(EntryReader& from) {
  StoredArray array;
  array.offset = from.get<std::uint64_t>();
  array.count = from.get<std::uint64_t>();
  array.element_bytes = from.get<std::uint32_t>();
  return array;
}

void put(EntryWriter& to, const Level& level) {
  to.put(level.width);
  to.put(level.height);
  to.put(level.codec);
  to.put(level.tile_width);
  to.put(level.tile_height);
  to.put(level.rgb);
  to.put(level.big_endian);
  to.put(level.has_whole_pixels);
  to.put(level.values.colors);
  to.put(level.values.alpha);
  to.put(level.values.samples);
  to.put(level.values.value_bytes);
  to.put(level.values.planes);
  to.put(level.values.differences);
  to.put_all(std::span<const std::byte>(level.tables));
  put(to, level.tile_offsets);
  put(to, level.tile_bytes);
  to.put(std::uint64_t{level.finer.size()});
  for (const TileSizes& finer : level.finer) {
    to.put(finer.width);
    to.put(finer.height);
    to.put(finer.tile_width);
    to.put(finer.tile_height);
    to.put(finer.planes);
    put(to, finer.bytes);
  }
}

Level level_in(EntryReader& from) {
  Level level;
  level.width = from.get<std::int64_t>();
  level.height = from.get<std::int64_t>();
  level.codec = from.get<SlideCodec>();
  level.tile_width = from.get<std::int32_t>();
  level.tile_height = from.get<std::int32_t>();
  level.rgb = from.truth();
  level.big_endian = from.truth();
  level.has_whole_pixels = from.truth();
  level.values.colors = from.get<StoredValues::Colors>();
  level.values.alpha = from.get<StoredValues::Alpha>();
  level.values.samples = from.get<std::uint8_t>();
  level.values.value_bytes = from.get<std::uint8_t>();
  level.values.planes = from.truth();
  level.values.differences = from.truth();
  level.tables = from.all<std::byte>();
  level.tile_offsets = array_in(from);
  level.tile_bytes = array_in(from);
  for (auto count = from.get<std::uint64_t>(); count != 0; --count) {
    TileSizes finer;
    finer.width = from.get<std::int64_t>();
    finer.height = from.get<std::int64_t>();
    finer.tile_width = from.get<std::int32_t>();
    finer.tile_height = from.get<std::int32_t>();
    finer.planes = from.get<std::uint32_t>();
    finer.bytes = array_in(from);
    level.finer.push_back(finer);
  }
  return level;
}

void put(EntryWriter& to, const SlideFile::PlaceChoice& choice) {
  to.put(choice.struck);
  to.put(choice.without_list);
  to.put(choice.beyond);
  to.put(choice.twice);
  to.put_all(choice.classes);
  to.put_all(choice.shown);
  to.put(choice.without_area);
  to.put(choice.no_annotation);
  to.put(choice.moved_x);
  to.put(choice.moved_y);
  to.put(std::string_view(choice.unread_mask));
}

SlideFile::PlaceChoice choice_in(EntryReader& from) {
  SlideFile::PlaceChoice choice;
  choice.struck = from.get<std::uint64_t>();
  choice.without_list = from.truth();
  choice.beyond = from.get<std::uint64_t>();
  choice.twice = from.get<std::uint64_t>();
  choice.classes = from.texts();
  choice.shown = from.texts();
  choice.without_area = from.get<std::uint64_t>();
  choice.no_annotation = from.get<std::uint64_t>();
  choice.moved_x = from.get<std::int64_t>();
  choice.moved_y = from.get<std::int64_t>();
  choice.unread_mask = from.text();
  return choice;
}

[[noreturn]] void refuse() { throw Error(Errc::corrupt, "a slide in it can't be as it says"); }

constexpr std::int64_t most_pixels_a_side = std::int64_t{1} << 31;

bool is_size(std::int64_t width, std::int64_t height) {
  return width > 0 && height > 0 && width < most_pixels_a_side && height < most_pixels_a_side;
}

bool is_tile(std::int32_t width, std::int32_t height) {
  constexpr std::int32_t most = 8192;
  return width > 0 && height > 0 && width <= most && height <= most;
}

// Returns whether the array has an element for each of `tiles` tiles, and these elements fit in a file of `file_bytes`
// bytes.
bool is_array(const StoredArray& array, std::uint64_t tiles, std::uint64_t file_bytes) {
  const std::uint64_t each = array.element_bytes;
  if ((each != 2 && each != 4 && each != 8) || array.count < tiles || tiles > file_bytes / each) return false;
  return array.offset <= file_bytes - tiles * each;
}

std::uint64_t tiles_of_level(std::int64_t width, std::int64_t height, std::int32_t tile_width,
                             std::int32_t tile_height) {
  return static_cast<std::uint64_t>((width + tile_width - 1) / tile_width) *
         static_cast<std::uint64_t>((height + tile_height - 1) / tile_height);
}

bool is_possible(const StoredValues& values, std::size_t palette_bytes) {
  using Colors = StoredValues::Colors;
  const unsigned colors = values.colors == Colors::rgb ? 3 : 1, samples = values.samples;
  const bool alpha = values.alpha != StoredValues::Alpha::none;
  if (values.colors > Colors::palette || values.alpha > StoredValues::Alpha::apart) return false;
  if (samples < colors || samples > colors + 1 || (alpha && samples == colors)) return false;
  if (values.value_bytes != 1 && values.value_bytes != 2) return false;
  constexpr std::size_t bytes_of_palette = 768;
  return values.colors != Colors::palette ||
         (samples == 1 && values.value_bytes == 1 && palette_bytes == bytes_of_palette);
}

// Checks everything that readers use without checking it. An entry's hash shows damage. But an entry with the
// right hash may come from anybody.
void check(const SlideFile& slide) {
  const Level& level = slide.image.level;
  const std::uint64_t bytes = slide.sample.bytes;
  if (slide.image.level_number >= slide.found.levels.size() || level.codec > SlideCodec::openslide) refuse();
  for (const SlideLevel& one : slide.found.levels)
    if (!is_size(one.width, one.height) || one.tile_width < 0 || one.tile_height < 0) refuse();
  if (slide.found.levels[slide.image.level_number] !=
      SlideLevel{level.width, level.height, level.tile_width, level.tile_height})
    refuse();
  if (level.codec != SlideCodec::openslide &&
      (!is_tile(level.tile_width, level.tile_height) || !is_array(level.tile_offsets, level.stored_tiles(), bytes) ||
       !is_array(level.tile_bytes, level.stored_tiles(), bytes)))
    refuse();
  if (level.holds_values() ? !is_possible(level.values, level.tables.size()) : level.values != StoredValues()) refuse();
  for (const TileSizes& finer : level.finer)
    if (!is_size(finer.width, finer.height) || !is_tile(finer.tile_width, finer.tile_height) || finer.planes < 1 ||
        finer.planes > StoredValues::most_samples ||
        !is_array(finer.bytes,
                  std::min(tiles_of_level(finer.width, finer.height, finer.tile_width, finer.tile_height), bytes + 1) *
                      finer.planes,
                  bytes))
      refuse();
  const Scale& scale = slide.image.scale;
  const SlideLevel& first = slide.found.levels.front();
  const bool smaller = scale.width != level.width || scale.height != level.height;
  if (!is_size(scale.width, scale.height) || scale.width > level.width || scale.height > level.height ||
      scale.resampled != smaller || scale.width0 != first.width || scale.height0 != first.height)
    refuse();
  constexpr int most_digits = 20;
  if (slide.records.digits < 1 || slide.records.digits > most_digits || slide.records.shown_classes.bits() > 8)
    refuse();
  for (const Grid::Listed& at : slide.records.grid.listed())
    if (at.x >= scale.width || at.y >= scale.height) refuse();
  if (slide.records.places < slide.records.grid.size() || slide.is_view()) refuse();
  if (!slide.choice.shown.empty() && !slide.records.shown_classes.words().empty() &&
      !slide.records.shown_classes.holds(slide.records.grid.size(), slide.choice.shown.size()))
    refuse();
}

}  // namespace

std::string entry_of(const EntryKey& key, const SlideFile& slide) {
  EntryWriter to;
  put(to, key);
  if (slide.failure) {
    put(to, *slide.failure);
    put(to, slide.choice);  // includes the classes of its regions, which are numbered even if the slide can't be read
    return to.bytes();
  }
  to.put(std::uint64_t{slide.found.levels.size()});
  for (const SlideLevel& level : slide.found.levels) {
    to.put(level.width);
    to.put(level.height);
    to.put(level.tile_width);
    to.put(level.tile_height);
  }
  to.put(std::string_view(slide.found.missing_levels));
  to.put(std::string_view(slide.found.unread_images));
  to.put(slide.found.resolution.mpp_x);
  to.put(slide.found.resolution.mpp_y);
  to.put(slide.found.resolution.magnification);
  to.put(std::string_view(slide.found.why_openslide));
  to.put(std::uint64_t{slide.image.level_number});
  put(to, slide.image.level);
  to.put(slide.image.scale.width);
  to.put(slide.image.scale.height);
  to.put(slide.image.scale.width0);
  to.put(slide.image.scale.height0);
  to.put(slide.image.scale.resampled);
  put(to, slide.choice);
  slide.records.grid.put(to);
  to.put(slide.records.places);
  to.put(std::int32_t{slide.records.digits});
  to.put(slide.records.shown_classes.bits());
  to.put_all(slide.records.shown_classes.words());
  to.put_all(std::span<const float>(slide.records.stain));
  return to.bytes();
}

EntryKey key_of_entry(std::string_view entry) {
  EntryReader from(entry);
  return key_in(from);
}

SlideFile slide_of_entry(std::string_view entry) {
  EntryReader from(entry);
  SlideFile slide;
  EntryKey key = key_in(from);
  slide.name = std::move(key.name);
  slide.sample = key.sample;
  slide.others = key.others;
  slide.found.openslide = std::move(key.openslide);
  if (key.failed) {
    slide.failure = failure_in(from);
    slide.choice = choice_in(from);
    if (from.left() != 0) refuse();
    slide.records.grid = Grid::of_one();
    slide.records.places = 1;
    return slide;
  }
  for (auto count = from.get<std::uint64_t>(); count != 0; --count) {
    SlideLevel level;
    level.width = from.get<std::int64_t>();
    level.height = from.get<std::int64_t>();
    level.tile_width = from.get<std::int32_t>();
    level.tile_height = from.get<std::int32_t>();
    slide.found.levels.push_back(level);
  }
  slide.found.missing_levels = from.text();
  slide.found.unread_images = from.text();
  slide.found.resolution.mpp_x = from.get<double>();
  slide.found.resolution.mpp_y = from.get<double>();
  slide.found.resolution.magnification = from.get<double>();
  slide.found.why_openslide = from.text();
  slide.image.level_number = static_cast<std::size_t>(from.get<std::uint64_t>());
  slide.image.level = level_in(from);
  slide.image.scale.width = from.get<std::int64_t>();
  slide.image.scale.height = from.get<std::int64_t>();
  slide.image.scale.width0 = from.get<std::int64_t>();
  slide.image.scale.height0 = from.get<std::int64_t>();
  slide.image.scale.resampled = from.truth();
  slide.choice = choice_in(from);
  slide.records.grid = Grid::get(from);
  slide.records.places = from.get<std::uint64_t>();
  slide.records.digits = from.get<std::int32_t>();
  const auto bits = from.get<unsigned>();
  slide.records.shown_classes = PackedNumbers(bits, from.all<std::uint64_t>());
  slide.records.stain = from.all<float>();
  if (from.left() != 0) refuse();
  check(slide);
  return slide;
}

}  // namespace penstock::slide
