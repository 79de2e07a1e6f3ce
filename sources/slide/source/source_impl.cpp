#include "source/source_impl.hpp"

#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "common/file_pattern.hpp"
#include "file/errors.hpp"
#include "source/place_box.hpp"
#include "table/slide_names.hpp"

namespace penstock {

using slide::Grid;
using slide::SlideBox;
using slide::SlideColumn;
using slide::SlideFile;

namespace {

[[noreturn]] void refuse_options(const std::string& why) {
  throw Error(Errc::invalid_argument, why).with_source(slide::source_name);
}

int digits_of(std::int64_t number) { return static_cast<int>(std::to_string(number).size()); }

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

SlideSource::Impl::Impl(Slides o)
    : options(std::move(o)),
      readers{slide::TileReader(std::max<std::size_t>(options.max_open_files, 1)),
              slide::OpenSlideSlides(std::max<std::size_t>(options.max_open_files, 1), options.max_openslide_bytes)} {
  check_options();
  if (options.stride == 0) options.stride = options.size - options.overlap;
  rules.pad_color = options.pad_color;
  find_files();
  read_table();
  open_slides();
  find_region_files();
  lay_grids();
  choose_places();
  number();
  describe();
}

void SlideSource::Impl::check_options() const {
  constexpr std::int32_t most = 65536;
  if (options.files.empty() == options.paths.empty()) refuse_options("give either `files` or `paths`");
  if (options.size < 1 || options.size > most)
    refuse_options("`size` is " + std::to_string(options.size) + " pixels; 1 to 65536 are possible");
  constexpr std::int64_t most_pixels = std::numeric_limits<std::int32_t>::max();
  if (options.left < 0 || options.top < 0 || options.left > most_pixels || options.top > most_pixels)
    refuse_options("`left` and `top` are pixels of the slide: 0 to 2,147,483,647 are possible");
  if (!options.coords.empty() && (options.left != 0 || options.top != 0))
    refuse_options("`coords` say where places are, so there is no grid that begins at `left` and `top`");
  if (options.stride < 0) refuse_options("`stride` is negative");
  if (options.overlap < 0 || options.overlap >= options.size)
    refuse_options("`overlap` is " + std::to_string(options.overlap) + " pixels; it must be less than `size`, " +
                   std::to_string(options.size));
  if (options.stride != 0 && options.overlap != 0) refuse_options("give either `stride` or `overlap`");
  check_tissue();
  check_regions();
  if (options.max_open_files == 0) refuse_options("`max_open_files` is 0: one at least must be open");
  if (options.labels.empty() &&
      !(options.slide_column.empty() && options.columns.empty() && options.group.empty() && options.mpp_column.empty()))
    refuse_options("`slide_column`, `columns`, `group` and `mpp_column` are columns of `labels`, which is not given");
  if ((options.level != 0) + (options.mpp != 0) + (options.magnification != 0) > 1)
    refuse_options("give one of `level`, `mpp` and `magnification`");
  if (options.level < 0) refuse_options("`level` is negative; 0 is the finest");
  constexpr double least_magnification = 0.5, most_magnification = 1000, most_tolerance = 0.5;
  if (options.mpp != 0 && !slide::plausible_mpp(options.mpp, options.mpp))
    refuse_options("`mpp` is " + std::to_string(options.mpp) + " micrometres a pixel; 0.05 to 20 are possible");
  if (options.assumed_mpp != 0 && !slide::plausible_mpp(options.assumed_mpp, options.assumed_mpp))
    refuse_options("`assumed_mpp` is " + std::to_string(options.assumed_mpp) +
                   " micrometres a pixel; 0.05 to 20 are possible");
  if (options.magnification != 0 &&
      !(options.magnification >= least_magnification && options.magnification <= most_magnification))
    refuse_options("`magnification` is " + std::to_string(options.magnification) + "; 0.5 to 1000 are possible");
  if (!(options.mpp_tolerance >= 0 && options.mpp_tolerance <= most_tolerance))
    refuse_options("`mpp_tolerance` is " + std::to_string(options.mpp_tolerance) + ", a share; 0 to 0.5 are possible");
}

void SlideSource::Impl::check_tissue() const {
  const SlideTissue& tissue = options.tissue;
  const auto check = [](bool good, const char* what, double value, const char* possible) {
    if (!good)
      refuse_options(std::string("`tissue.") + what + "` is " + std::to_string(value) + "; " + possible +
                     " are possible");
  };
  constexpr double least_mpp = 1, most_mpp = 200, most_closing = 10'000, most_threshold = 254;
  check(tissue.least >= 0 && tissue.least <= 1, "least", tissue.least, "0 to 1");
  check(tissue.mpp >= least_mpp && tissue.mpp <= most_mpp, "mpp", tissue.mpp, "1 to 200");
  check(tissue.threshold >= 0 && tissue.threshold <= most_threshold, "threshold", tissue.threshold, "0 to 254");
  check(tissue.closing >= 0 && tissue.closing <= most_closing, "closing", tissue.closing, "0 to 10,000");
  check(tissue.least_area >= 0 && std::isfinite(tissue.least_area), "least_area", tissue.least_area, "0 and more");
}

void SlideSource::Impl::find_files() {
  if (options.paths.empty()) options.paths = common::files_of_pattern(options.files, slide::source_name);
  names = slide::names_of_slides(options.paths);
  // By another name or a link: a split would have it on both sides.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files;
  for (std::size_t i = 0; i < options.paths.size(); ++i) {
    struct stat status {};
    if (::stat(options.paths[i].c_str(), &status) != 0) continue;  // an error when it is opened
    const auto [first, fresh] = files.emplace(std::pair(status.st_dev, status.st_ino), i);
    if (!fresh)
      throw slide::error_in(options.paths[i], Errc::invalid_argument,
                            "it is the same file as " + options.paths[first->second] + "; give one of the two");
  }
}

void SlideSource::Impl::open_slides() {
  slides.reserve(names.size());
  std::size_t keep_left = options.max_kept_bytes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    SlideFile& slide = slides.emplace_back(slide::open_slide(options.paths[i], i, wish_of(i), keep_left));
    slide.name = names[i];
  }
}

slide::SlideWish SlideSource::Impl::wish_of(std::size_t number) const {
  return {.wanted = {options.level, options.mpp, options.magnification, options.mpp_tolerance},
          .own_mpp = table.mpp.empty() ? 0 : table.mpp[number],
          .assumed_mpp = options.assumed_mpp,
          .mask_mpp = options.tissue.by == SlideTissue::By::everywhere ? 0 : options.tissue.mpp};
}

// Slides without a line are refused, or go.
void SlideSource::Impl::read_table() {
  if (options.labels.empty()) return;
  std::vector<std::string> without;
  table = slide::read_slide_table(options, options.paths, names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!table.listed[i]) without.push_back(names[i]);
  if (without.empty()) return;
  if (options.unlisted == Slides::Unlisted::refuse) {
    constexpr std::size_t told = 10;
    std::string list;
    for (std::size_t i = 0; i < std::min(told, without.size()); ++i) list += (i == 0 ? "" : ", ") + without[i];
    if (without.size() > told) list += ", ...";
    throw slide::error_in(options.labels, Errc::invalid_argument,
                          std::to_string(without.size()) + " of " + std::to_string(names.size()) +
                              " slides have no line: " + list +
                              "; give them one, or leave them out by `unlisted = Slides::Unlisted::leave_out`");
  }
  left_out_ = without.size();
  const auto keep_listed = [&](auto& of_slides) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < of_slides.size(); ++i)
      if (table.listed[i]) {
        if (kept != i) of_slides[kept] = std::move(of_slides[i]);
        ++kept;
      }
    of_slides.resize(kept);
  };
  for (SlideColumn& column : table.columns) {
    if (!column.whole.empty()) keep_listed(column.whole);
    if (!column.numbers.empty()) keep_listed(column.numbers);
  }
  if (!table.groups.empty()) keep_listed(table.groups);
  if (!table.mpp.empty()) keep_listed(table.mpp);
  keep_listed(names);
  keep_listed(options.paths);
}

void SlideSource::Impl::lay_grids() {
  const bool lists = !options.coords.empty();
  if (lists) lay_lists();
  for (SlideFile& slide : slides) {
    const slide::Scale& scale = slide.scale;
    if (!lists)
      slide.grid = slide.failure ? Grid::of_one()
                                 : Grid(scale.width - scale.x_in_image(options.left),
                                        scale.height - scale.y_in_image(options.top), options.size, options.stride,
                                        options.edges, options.order);
    slide.places = slide.grid.size();
    slide.digits = std::max(slide.digits, digits_of(std::max(scale.width0, scale.height0)));
  }
}

void SlideSource::Impl::number() {
  for (SlideFile& slide : slides) {
    slide.first = size;
    slide.first_block = blocks;
    if (!slide.failure) {
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
  if (!options.regions.field.empty()) {
    if (std::ranges::any_of(fields, [&](const Field& field) { return field.name == options.regions.field; }))
      refuse_options("`regions.field` is \"" + options.regions.field + "\", a field that is there already");
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
  for (const SlideFile& slide : slides) {
    // Levels above the first have other pixels through OpenSlide.
    const std::array<std::uint64_t, 7> of_slide{slide.mark.bytes,
                                                static_cast<std::uint64_t>(slide.scale.width0),
                                                static_cast<std::uint64_t>(slide.scale.height0),
                                                static_cast<std::uint64_t>(slide.scale.width),
                                                static_cast<std::uint64_t>(slide.scale.height),
                                                slide.level_number,
                                                slide.failure                  ? 1u
                                                : !slide.why_openslide.empty() ? 2u
                                                                               : 0u};
    add(of_slide.data(), sizeof of_slide);
    add(slide.name.c_str(), slide.name.size() + 1);
    add(slide.level.tables.data(), slide.level.tables.size());
    // Which places show tissue follows from pixels, and from how large these are said to be.
    add(slide.grid.kept().data(), slide.grid.kept().size_bytes());
    add(slide.grid.listed().data(), slide.grid.listed().size_bytes());
    add(slide.shown_classes.words().data(), slide.shown_classes.words().size_bytes());
    add(slide.class_numbers.data(), slide.class_numbers.size() * sizeof(std::int64_t));
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
                     .whole_tiles = slide.whole_tiles,
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
  // Of a list as it stands there, though the image may have no pixel just there.
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
