#include "source/source_impl.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "common/on_threads.hpp"
#include "file/errors.hpp"
#include "source/indexed.hpp"
#include "source/place_box.hpp"

namespace penstock {

using slide::Grid;
using slide::SlideBox;
using slide::SlideColumn;
using slide::SlideFile;

namespace {

[[noreturn]] void refuse_options(const std::string& why) {
  throw Error(Errc::invalid_argument, why).with_source(slide::source_name);
}

// No tile of the file is touched by two places of the list.
bool listed_share_no_tile(const SlideFile& slide, std::int32_t size) {
  std::vector<bool> touched(static_cast<std::size_t>(slide.level.tiles()));
  const slide::Scale& scale = slide.scale;
  for (const Grid::Listed& place : slide.grid.listed()) {
    const SlideBox box =
        slide::inside(scale.width, scale.height, {scale.x_in_image(place.x), scale.y_in_image(place.y), size, size});
    const slide::TouchedTiles tiles = tiles_of(slide.level, box);
    for (std::uint64_t row = tiles.row; row < tiles.row + tiles.rows; ++row)
      for (std::uint64_t column = tiles.column; column < tiles.column + tiles.columns; ++column) {
        const auto tile = static_cast<std::size_t>(row * slide.level.tile_columns() + column);
        if (touched[tile]) return false;
        touched[tile] = true;
      }
  }
  return true;
}

// No tile of the file is touched by two places of the grid.
bool shares_no_tile(const SlideFile& slide, const Slides& options) {
  if (slide.scale.resampled) return false;
  if (slide.grid.is_list()) return listed_share_no_tile(slide, options.size);
  const std::int64_t wide = slide.level.tile_width, high = slide.level.tile_height;
  const std::int64_t left = slide.scale.x_in_image(options.left), top = slide.scale.y_in_image(options.top);
  if (options.stride % wide != 0 || options.stride % high != 0) return false;
  // A place ends before the tile begins in which the next place does.
  return left % wide + options.size <= options.stride && top % high + options.size <= options.stride;
}

// Tiles are blocks where records share them, unless a record is made of so many that it shares only a few.
bool keeps_tiles(const SlideFile& slide, const Slides& options) {
  if (slide.level.codec == SlideCodec::openslide || slide.whole_tiles) return false;
  constexpr double most_bytes = 16 << 20;
  const double across = static_cast<double>(slide.level.width) / static_cast<double>(slide.scale.width);
  const double down = static_cast<double>(slide.level.height) / static_cast<double>(slide.scale.height);
  return !slide.scale.resampled || 3.0 * options.size * options.size * across * down <= most_bytes;
}

// Which places are records, and what these show, is added for each slide.
template <class Add>
void add_regions(const SlideRegions& regions, const std::vector<std::string>& classes, const Add& add) {
  if (regions.folder.empty()) return;
  const std::array<double, 2> numbers{regions.least, regions.mpp};
  add(numbers.data(), sizeof numbers);
  add(regions.field.c_str(), regions.field.size() + 1);
  for (const std::vector<std::string>* names : {&regions.include, &regions.exclude, &classes})
    for (const std::string& name : *names) add(name.c_str(), name.size() + 1);
}

}  // namespace

SlideSource::Impl::Impl(Slides o) : Opening(std::move(o)) {
  rules.pad_color = options.pad_color;
  if (!options.index.empty()) {
    slides = slide::indexed_slides(*this);
  } else {
    slides.resize(count());
    common::for_each_on_threads(count(), 0, [&](std::size_t i) { slides[i] = open(i); });
  }
  forget_choices();
  if (!options.regions.folder.empty()) check_classes();
  if (!options.regions.field.empty()) number_classes();
  number();
  describe();
}

void SlideSource::Impl::number() {
  size = blocks = 0;
  for (SlideFile& slide : slides) {
    slide.first = size;
    slide.first_block = blocks;
    slide.blocks = 0;
    if (!slide.failure && !slide.passed_over) {
      slide.whole_tiles = slide.level.codec != SlideCodec::openslide && shares_no_tile(slide, options);
      if (keeps_tiles(slide, options)) slide.blocks = slide.level.tiles();
    }
    size += slide.grid.size();
    blocks += slide.blocks;
  }
  groups = table.groups;
  if (groups.empty())
    for (const SlideFile& slide : slides) groups.push_back(slide.name);
}

void SlideSource::Impl::describe() {
  const std::int64_t side = options.edges == SlideEdges::shrink ? dynamic : options.size;
  std::vector<Field> fields{
      {"image", DType::u8, {side, side, 3}}, {"slide", DType::i64, {}}, {"x", DType::i64, {}}, {"y", DType::i64, {}}};
  const auto refuse_twice = [&](const char* option, const std::string& name) {
    if (std::ranges::any_of(fields, [&](const Field& field) { return field.name == name; }))
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
  for (const SlideColumn& column : table.columns) {
    if (std::ranges::any_of(fields, [&](const Field& field) { return field.name == column.field.name; }))
      throw slide::error_in(options.labels, Errc::invalid_argument,
                            "the column \"" + column.field.name +
                                "\" has the name of a field that is there already; rename it, or name the columns that "
                                "you need in `columns`");
    fields.push_back(column.field);
  }
  schema = Schema(std::move(fields));

  const std::array<std::int64_t, 10> of_options{options.size,
                                                options.stride,
                                                options.left,
                                                options.top,
                                                static_cast<std::int64_t>(options.edges),
                                                static_cast<std::int64_t>(options.order),
                                                options.pad_color[0],
                                                options.pad_color[1],
                                                options.pad_color[2],
                                                static_cast<std::int64_t>(slides.size())};
  XXH3_state_t* const state = XXH3_createState();
  if (state == nullptr) throw Error(Errc::out_of_memory, "no memory to open slides");
  XXH3_64bits_reset(state);
  const auto add = [&](const void* data, std::size_t bytes) { XXH3_64bits_update(state, data, bytes); };
  add(of_options.data(), sizeof of_options);
  if (const SlideTissue& tissue = options.tissue; tissue.by != SlideTissue::By::everywhere) {
    const std::array<double, 6> of_tissue{static_cast<double>(tissue.by),        tissue.least,   tissue.mpp,
                                          static_cast<double>(tissue.threshold), tissue.closing, tissue.least_area};
    add(of_tissue.data(), sizeof of_tissue);
  }
  add_regions(options.regions, region_classes, add);
  if (options.stain.method) add(options.stain.field.c_str(), options.stain.field.size() + 1);
  for (const SlideFile& slide : slides) {
    // An index has nothing of a slide that can't be read but why.
    const slide::Scale scale = slide.failure ? slide::Scale() : slide.scale;
    // Levels above the first have other pixels through OpenSlide.
    const std::array<std::uint64_t, 7> of_slide{slide.sample.bytes,
                                                static_cast<std::uint64_t>(scale.width0),
                                                static_cast<std::uint64_t>(scale.height0),
                                                static_cast<std::uint64_t>(scale.width),
                                                static_cast<std::uint64_t>(scale.height),
                                                slide.failure ? 0 : slide.level_number,
                                                slide.failure                  ? 1u
                                                : !slide.why_openslide.empty() ? 2u
                                                                               : 0u};
    add(of_slide.data(), sizeof of_slide);
    add(slide.name.c_str(), slide.name.size() + 1);
    if (!slide.failure) add(slide.level.tables.data(), slide.level.tables.size());
    // Which places show tissue follows from pixels, and from how large these are said to be.
    add(slide.grid.kept().data(), slide.grid.kept().size_bytes());
    add(slide.grid.listed().data(), slide.grid.listed().size_bytes());
    add(slide.shown_classes.words().data(), slide.shown_classes.words().size_bytes());
    add(slide.class_numbers.data(), slide.class_numbers.size() * sizeof(std::int64_t));
    add(slide.stain.data(), slide.stain.size() * sizeof(float));
  }
  for (const std::string& group : groups) add(group.c_str(), group.size() + 1);
  for (const SlideColumn& column : table.columns) {
    add(column.field.name.c_str(), column.field.name.size() + 1);
    for (const std::string& name : column.field.classes) add(name.c_str(), name.size() + 1);
    add(column.whole.data(), column.whole.size() * sizeof(std::int64_t));
    add(column.numbers.data(), column.numbers.size() * sizeof(float));
  }
  identity = XXH3_64bits_digest(state);
  XXH3_freeState(state);

  for (const SlideFile& slide : slides)
    infos.push_back({.path = slide.path,
                     .name = slide.name,
                     .width = slide.scale.width0,
                     .height = slide.scale.height0,
                     .levels = slide.levels,
                     .missing_levels = slide.missing_levels,
                     .mpp_x = slide.resolution.mpp_x,
                     .mpp_y = slide.resolution.mpp_y,
                     .magnification = slide.resolution.magnification,
                     .level = slide.level_number,
                     .image_width = slide.scale.width,
                     .image_height = slide.scale.height,
                     .resampled = slide.scale.resampled,
                     .codec = slide.level.codec,
                     .why_openslide = slide.why_openslide,
                     .tile_width = slide.level.tile_width,
                     .tile_height = slide.level.tile_height,
                     .places = slide.places,
                     .first = slide.first,
                     .records = slide.grid.size(),
                     .region_file = slide.region_file,
                     .stain = slide.stain.empty() ? std::nullopt : std::optional(StainFit::of(slide.stain)),
                     .whole_tiles = slide.whole_tiles,
                     .passed_over = slide.passed_over,
                     .failure = slide.failure});
}

SlideSource::Impl::Record SlideSource::Impl::record(std::uint64_t index) const {
  if (index >= size)
    throw Error(Errc::not_found, "there is no such record; the slides have " + std::to_string(size))
        .with_source(slide::source_name)
        .with_index(index);
  // Slides without a record begin where the next one does.
  const SlideFile& slide = *std::prev(std::upper_bound(
      slides.begin(), slides.end(), index, [](std::uint64_t i, const SlideFile& other) { return i < other.first; }));
  const slide::GridPlace place = slide.grid.place(index - slide.first);
  if (slide.failure)
    return {&slide, 0, {options.left, options.top, options.size, options.size}, options.left, options.top};
  const SlideBox box = slide::place_box(slide, options, place);
  // A listed place keeps its coordinates, though the image may have no pixel just there.
  if (slide.grid.is_list())
    return {&slide, index - slide.first, box, static_cast<std::int64_t>(place.column),
            static_cast<std::int64_t>(place.row)};
  return {&slide, index - slide.first, box, slide.scale.x_at_level_0(box.x), slide.scale.y_at_level_0(box.y)};
}

const SlideFile& SlideSource::Impl::slide_of_block(std::uint64_t block) const {
  if (block >= blocks)
    throw Error(Errc::not_found,
                "there is no block " + std::to_string(block) + "; the slides have " + std::to_string(blocks))
        .with_source(slide::source_name);
  return *std::prev(std::upper_bound(slides.begin(), slides.end(), block,
                                     [](std::uint64_t b, const SlideFile& other) { return b < other.first_block; }));
}

}  // namespace penstock
