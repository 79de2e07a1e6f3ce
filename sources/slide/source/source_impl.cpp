// SPDX-License-Identifier: Apache-2.0
#include "source/source_impl.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>

#include "common/on_threads.hpp"
#include "file/errors.hpp"
#include "source/identity.hpp"
#include "source/indexed.hpp"
#include "source/place_box.hpp"
#include "source/region_classes.hpp"

namespace penstock {

using slide::Grid;
using slide::PackedNumbers;
using slide::SlideBox;
using slide::SlideColumn;
using slide::SlideFile;

namespace {

[[noreturn]] void refuse_options(const std::string& why) {
  throw Error(Errc::invalid_argument, why).with_source(slide::source_name);
}

// Returns whether each tile of the file is touched by at most one place of the list.
bool listed_share_no_tile(const SlideFile& slide, std::int32_t size) {
  std::vector<bool> touched(static_cast<std::size_t>(slide.image.level.tiles()));
  const slide::Scale& scale = slide.image.scale;
  for (const Grid::Listed& place : slide.records.grid.listed()) {
    const SlideBox box =
        slide::inside(scale.width, scale.height, {scale.x_in_image(place.x), scale.y_in_image(place.y), size, size});
    const slide::TouchedTiles tiles = tiles_of(slide.image.level, box);
    for (std::uint64_t row = tiles.row; row < tiles.row + tiles.rows; ++row)
      for (std::uint64_t column = tiles.column; column < tiles.column + tiles.columns; ++column) {
        const auto tile = static_cast<std::size_t>(row * slide.image.level.tile_columns() + column);
        if (touched[tile]) return false;
        touched[tile] = true;
      }
  }
  return true;
}

// Returns true only if each tile of the file is touched by at most one place. Always returns false if the
// image is resampled, or if the stride of a grid is not a multiple of the tiles' sides.
bool shares_no_tile(const SlideFile& slide, const Slides& options) {
  if (slide.image.scale.resampled) return false;
  if (slide.records.grid.is_list()) return listed_share_no_tile(slide, options.size);
  const std::int64_t wide = slide.image.level.tile_width, high = slide.image.level.tile_height;
  const std::int64_t left = slide.image.scale.x_in_image(options.left), top = slide.image.scale.y_in_image(options.top);
  if (options.stride % wide != 0 || options.stride % high != 0) return false;
  // A place must end before the tile in which the next place begins.
  return left % wide + options.size <= options.stride && top % high + options.size <= options.stride;
}

// Returns whether the level's tiles are blocks. They are if this library decodes them and records share tiles. The
// exception is an image that is scaled down so much that a record is made of many tiles and shares only a few of them.
bool keeps_tiles(const SlideFile& slide, const Slides& options) {
  if (slide.image.level.codec == SlideCodec::openslide || slide.records.whole_tiles) return false;
  constexpr double most_bytes = 16 << 20;
  const double across = static_cast<double>(slide.image.level.width) / static_cast<double>(slide.image.scale.width);
  const double down = static_cast<double>(slide.image.level.height) / static_cast<double>(slide.image.scale.height);
  return !slide.image.scale.resampled || 3.0 * options.size * options.size * across * down <= most_bytes;
}

SlideInfo info_of(const SlideFile& slide) {
  return {.path = slide.path,
          .name = slide.name,
          .width = slide.image.scale.width0,
          .height = slide.image.scale.height0,
          .levels = slide.found.levels,
          .missing_levels = slide.found.missing_levels,
          .unread_images = slide.found.unread_images,
          .mpp_x = slide.found.resolution.mpp_x,
          .mpp_y = slide.found.resolution.mpp_y,
          .magnification = slide.found.resolution.magnification,
          .level = slide.image.level_number,
          .image_width = slide.image.scale.width,
          .image_height = slide.image.scale.height,
          .resampled = slide.image.scale.resampled,
          .codec = slide.image.level.codec,
          .why_openslide = slide.found.why_openslide,
          .other_files = slide.settings.other_files,
          .openslide = slide.found.openslide,
          .tile_width = slide.image.level.tile_width,
          .tile_height = slide.image.level.tile_height,
          .places = slide.records.places,
          .first = slide.records.first,
          .records = slide.records.grid.size(),
          .region_file = slide.region_file,
          .stain = slide.records.stain.empty() ? std::nullopt : std::optional(StainFit::of(slide.records.stain)),
          .whole_tiles = slide.records.whole_tiles,
          .passed_over = slide.passed_over,
          .failure = slide.failure};
}

// Returns the `numbers` of the wanted records. `wanted` has a value per record.
PackedNumbers kept_of(const PackedNumbers& numbers, const std::vector<bool>& wanted) {
  PackedNumbers kept(static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true)), numbers.bits());
  std::size_t record = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) kept.set(record++, numbers[i]);
  return kept;
}

}  // namespace

SlideSource::Impl::Impl(Slides o) : SlideOpener(std::move(o)) {
  rules.pad_color = options.pad_color;
  // Refuses two fields of one name before slides are opened.
  static_cast<void>(all_fields());
  if (!options.index.empty()) {
    slides = slide::indexed_slides(*this);
  } else {
    slides.resize(count());
    common::for_each_on_threads(count(), 0, [&](std::size_t i) { slides[i] = open(i); });
  }
  forget_choices();
  if (!options.regions.folder.empty()) unknown_classes = slide::unknown_classes(options.regions, slides);
  if (!options.regions.field.empty()) region_classes = slide::number_classes(options.regions, slides);
  number();
  describe();
}

SlideSource::Impl::Impl(const Impl& all, std::size_t slot, std::span<const std::int64_t> values) : Impl(all) {
  const auto wants = [&](std::int64_t value) { return std::ranges::find(values, value) != values.end(); };
  const slide::SlideColumn* const column = column_of(slot);
  for (SlideFile& slide : slides) {
    std::vector<bool> wanted(static_cast<std::size_t>(slide.records.grid.size()), true);
    if (is_region_field(slot)) {
      if (slide.failure) continue;
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = wants(slide::shown_class(slide, i));
    } else if (!wants(column == nullptr ? static_cast<std::int64_t>(slide.number) : column->whole[slide.number])) {
      std::fill(wanted.begin(), wanted.end(), false);
    }
    if (std::ranges::find(wanted, false) == wanted.end()) continue;
    if (!slide.records.shown_classes.words().empty())
      slide.records.shown_classes = kept_of(slide.records.shown_classes, wanted);
    slide.records.grid.keep(wanted);
  }
  infos.clear();
  number();
  describe();
}

void SlideSource::Impl::number() {
  size = blocks = 0;
  for (SlideFile& slide : slides) {
    slide.records.first = size;
    slide.records.first_block = blocks;
    slide.records.blocks = 0;
    if (!slide.failure && !slide.passed_over) {
      slide.records.whole_tiles = slide.image.level.codec != SlideCodec::openslide && shares_no_tile(slide, options);
      if (keeps_tiles(slide, options)) slide.records.blocks = slide.image.level.tiles();
    }
    size += slide.records.grid.size();
    blocks += slide.records.blocks;
  }
  groups = table.groups;
  if (groups.empty())
    for (const SlideFile& slide : slides) groups.push_back(slide.name);
}

void SlideSource::Impl::describe() {
  schema = Schema(all_fields());
  identity = slide::identity_of_records(options, slides, region_classes, groups, table.columns);
  for (const SlideFile& slide : slides) infos.push_back(info_of(slide));
}

std::vector<Field> SlideSource::Impl::all_fields() const {
  const std::int64_t side = options.edges == SlideEdges::shrink ? dynamic : options.size;
  std::vector<Field> fields{
      {"image", DType::u8, {side, side, 3}}, {"slide", DType::i64, {}}, {"x", DType::i64, {}}, {"y", DType::i64, {}}};
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(fields, name, &Field::name) != fields.end();
  };
  const auto refuse_twice = [&](const char* option, const std::string& name) {
    if (is_there(name))
      refuse_options("`" + std::string(option) + "` is \"" + name + "\", a field that is there already");
  };
  if (options.stain.method) {
    refuse_twice("stain.field", options.stain.field);
    const auto values = static_cast<std::int64_t>(StainFit::reference(*options.stain.method).values().size());
    fields.push_back({options.stain.field, DType::f32, {values}});
  }
  if (!options.regions.field.empty()) {
    refuse_twice("regions.field", options.regions.field);
    fields.push_back({options.regions.field, DType::i64, {}, {}, region_classes});
  }
  std::unordered_set<std::string> taken;
  for (const Field& field : fields) taken.insert(field.name);
  for (const SlideColumn& column : table.columns) {
    if (!taken.insert(column.field.name).second)
      throw slide::error_in(options.labels, Errc::invalid_argument,
                            "the column \"" + column.field.name +
                                "\" has the name of a field that is there already; rename it, or name the columns that "
                                "you need in `columns`");
    fields.push_back(column.field);
  }
  return fields;
}

SlideSource::Impl::Record SlideSource::Impl::record(std::uint64_t index) const {
  if (index >= size)
    throw Error(Errc::not_found, "there is no such record; the slides have " + std::to_string(size))
        .with_source(slide::source_name)
        .with_index(index);
  // A slide without a record has the same `first` as the next slide. The search finds the last of these slides, which
  // has the record.
  const SlideFile& slide =
      *std::prev(std::upper_bound(slides.begin(), slides.end(), index,
                                  [](std::uint64_t i, const SlideFile& other) { return i < other.records.first; }));
  const slide::GridPlace place = slide.records.grid.place(index - slide.records.first);
  if (slide.failure)
    return {&slide, 0, {options.left, options.top, options.size, options.size}, options.left, options.top};
  const SlideBox box = slide::place_box(slide, options, place);
  // A listed place keeps its coordinates at level 0, even if no pixel of the image begins exactly there.
  if (slide.records.grid.is_list())
    return {&slide, index - slide.records.first, box, static_cast<std::int64_t>(place.column),
            static_cast<std::int64_t>(place.row)};
  return {&slide, index - slide.records.first, box, slide.image.scale.x_at_level_0(box.x),
          slide.image.scale.y_at_level_0(box.y)};
}

const SlideFile& SlideSource::Impl::slide_of_block(std::uint64_t block) const {
  if (block >= blocks)
    throw Error(Errc::not_found,
                "there is no block " + std::to_string(block) + "; the slides have " + std::to_string(blocks))
        .with_source(slide::source_name);
  return *std::prev(std::upper_bound(slides.begin(), slides.end(), block, [](std::uint64_t b, const SlideFile& other) {
    return b < other.records.first_block;
  }));
}

}  // namespace penstock
