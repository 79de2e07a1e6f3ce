#include "index/entry.hpp"

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
  to.put_all(std::span<const std::byte>(level.tables));
  put(to, level.tile_offsets);
  put(to, level.tile_bytes);
  to.put(std::uint64_t{level.finer.size()});
  for (const TileSizes& finer : level.finer) {
    to.put(finer.width);
    to.put(finer.height);
    to.put(finer.tile_width);
    to.put(finer.tile_height);
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
  level.tables = from.all<std::byte>();
  level.tile_offsets = array_in(from);
  level.tile_bytes = array_in(from);
  for (auto count = from.get<std::uint64_t>(); count != 0; --count) {
    TileSizes finer;
    finer.width = from.get<std::int64_t>();
    finer.height = from.get<std::int64_t>();
    finer.tile_width = from.get<std::int32_t>();
    finer.tile_height = from.get<std::int32_t>();
    finer.bytes = array_in(from);
    level.finer.push_back(finer);
  }
  return level;
}

void put(EntryWriter& to, const SlideFile::Choice& choice) {
  to.put(choice.struck);
  to.put(choice.without_list);
  to.put(choice.beyond);
  to.put(choice.twice);
  to.put_all(choice.classes);
  to.put_all(choice.told);
  to.put(choice.without_area);
  to.put(choice.no_annotation);
  to.put(choice.moved_x);
  to.put(choice.moved_y);
  to.put(std::string_view(choice.unread_mask));
}

SlideFile::Choice choice_in(EntryReader& from) {
  SlideFile::Choice choice;
  choice.struck = from.get<std::uint64_t>();
  choice.without_list = from.truth();
  choice.beyond = from.get<std::uint64_t>();
  choice.twice = from.get<std::uint64_t>();
  choice.classes = from.texts();
  choice.told = from.texts();
  choice.without_area = from.get<std::uint64_t>();
  choice.no_annotation = from.get<std::uint64_t>();
  choice.moved_x = from.get<std::int64_t>();
  choice.moved_y = from.get<std::int64_t>();
  choice.unread_mask = from.text();
  return choice;
}

[[noreturn]] void refuse() { throw Error(Errc::corrupt, "a slide in it can't be as it says"); }

// What reading relies on without looking again.
void check(const SlideFile& slide) {
  const Level& level = slide.level;
  const bool tiles = level.codec != SlideCodec::openslide;
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const auto size = [&](std::int64_t width, std::int64_t height) {
    return width > 0 && height > 0 && width < most && height < most;
  };
  if (!size(level.width, level.height) || !size(slide.scale.width, slide.scale.height) ||
      !size(slide.scale.width0, slide.scale.height0) || slide.level_number >= slide.levels.size() ||
      level.codec > SlideCodec::openslide || slide.shown_classes.bits() > 8)
    refuse();
  if (tiles && (level.tile_width <= 0 || level.tile_height <= 0 || level.tile_offsets.count < level.tiles() ||
                level.tile_bytes.count < level.tiles()))
    refuse();
  for (const TileSizes& finer : level.finer)
    if (!size(finer.width, finer.height) || finer.tile_width <= 0 || finer.tile_height <= 0) refuse();
  if (!slide.choice.told.empty() && !slide.shown_classes.words().empty() &&
      !slide.shown_classes.holds(slide.grid.size(), slide.choice.told.size()))
    refuse();
}

}  // namespace

std::string entry_of(const EntryKey& key, const SlideFile& slide) {
  EntryWriter to;
  put(to, key);
  if (slide.failure) {
    put(to, *slide.failure);
    put(to, slide.choice);  // the classes of its regions count
    return to.bytes();
  }
  to.put(std::uint64_t{slide.levels.size()});
  for (const SlideLevel& level : slide.levels) {
    to.put(level.width);
    to.put(level.height);
    to.put(level.tile_width);
    to.put(level.tile_height);
  }
  to.put(std::string_view(slide.missing_levels));
  to.put(std::string_view(slide.unread_images));
  to.put(slide.resolution.mpp_x);
  to.put(slide.resolution.mpp_y);
  to.put(slide.resolution.magnification);
  to.put(std::string_view(slide.why_openslide));
  to.put(std::uint64_t{slide.level_number});
  put(to, slide.level);
  to.put(slide.scale.width);
  to.put(slide.scale.height);
  to.put(slide.scale.width0);
  to.put(slide.scale.height0);
  to.put(slide.scale.resampled);
  put(to, slide.choice);
  slide.grid.put(to);
  to.put(slide.places);
  to.put(std::int32_t{slide.digits});
  to.put(slide.shown_classes.bits());
  to.put_all(slide.shown_classes.words());
  to.put_all(std::span<const float>(slide.stain));
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
  slide.openslide = std::move(key.openslide);
  if (key.failed) {
    slide.failure = failure_in(from);
    slide.choice = choice_in(from);
    if (from.left() != 0) refuse();
    slide.grid = Grid::of_one();
    slide.places = 1;
    return slide;
  }
  for (auto count = from.get<std::uint64_t>(); count != 0; --count) {
    SlideLevel level;
    level.width = from.get<std::int64_t>();
    level.height = from.get<std::int64_t>();
    level.tile_width = from.get<std::int32_t>();
    level.tile_height = from.get<std::int32_t>();
    slide.levels.push_back(level);
  }
  slide.missing_levels = from.text();
  slide.unread_images = from.text();
  slide.resolution.mpp_x = from.get<double>();
  slide.resolution.mpp_y = from.get<double>();
  slide.resolution.magnification = from.get<double>();
  slide.why_openslide = from.text();
  slide.level_number = static_cast<std::size_t>(from.get<std::uint64_t>());
  slide.level = level_in(from);
  slide.scale.width = from.get<std::int64_t>();
  slide.scale.height = from.get<std::int64_t>();
  slide.scale.width0 = from.get<std::int64_t>();
  slide.scale.height0 = from.get<std::int64_t>();
  slide.scale.resampled = from.truth();
  slide.choice = choice_in(from);
  slide.grid = Grid::get(from);
  slide.places = from.get<std::uint64_t>();
  slide.digits = from.get<std::int32_t>();
  const auto bits = from.get<unsigned>();
  slide.shown_classes = PackedNumbers(bits, from.all<std::uint64_t>());
  slide.stain = from.all<float>();
  if (from.left() != 0) refuse();
  check(slide);
  return slide;
}

}  // namespace penstock::slide
