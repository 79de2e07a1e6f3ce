// SPDX-License-Identifier: Apache-2.0
#include "source/source_notes.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/openslide/openslide_library.hpp"

namespace penstock::slide {

namespace {

using Lines = std::vector<std::string>;

std::string counted(std::integral auto number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Counts of how places were chosen, for all slides together.
struct Choices {
  std::size_t empty = 0;            // slides without a place
  std::size_t without_a_place = 0;  // slides that have places, but all are left out
  std::size_t without_list = 0;
  bool listed = false;
  std::uint64_t places = 0, struck = 0;
  std::uint64_t beyond = 0, twice = 0, without_area = 0, no_annotation = 0;
};

Choices choices_of(const std::vector<SlideFile>& slides) {
  Choices all;
  for (const SlideFile& slide : slides) {
    if (slide.failure || slide.passed_over) continue;
    const SlideFile::PlaceChoice& choice = slide.choice;
    all.listed = all.listed || slide.records.grid.is_list();
    if (choice.without_list) ++all.without_list;
    all.beyond += choice.beyond;
    all.twice += choice.twice;
    all.without_area += choice.without_area;
    all.no_annotation += choice.no_annotation;
    if (slide.records.places == 0) ++all.empty;
    if (slide.records.places != 0 && choice.struck == slide.records.places) ++all.without_a_place;
    all.places += slide.records.places;
    all.struck += choice.struck;
  }
  return all;
}

// Adds lines about places that show too little tissue, or that the rules of regions don't allow.
void add_not_shown(Lines& lines, const Choices& choices, const Slides& options) {
  const bool by_tissue = options.tissue.by != SlideTissue::By::everywhere, by_regions = !options.regions.folder.empty();
  const std::string why = by_tissue && by_regions
                              ? "show less tissue than `tissue.least`, or lie where `regions` wants none"
                          : by_tissue ? "show less tissue than `tissue.least`"
                                      : "lie where `regions` wants none";
  if (choices.struck != 0)
    lines.push_back(std::to_string(choices.struck) + " of " + counted(choices.places, "place") + " " + why +
                    ", and are left out");
  if (choices.without_a_place != 0)
    lines.push_back(counted(choices.without_a_place, "slide") + " without a record: all places " + why);
}

void add_passed_annotations(Lines& lines, const Choices& choices, const std::string& folder) {
  if (choices.without_area != 0)
    lines.push_back(counted(choices.without_area, "annotation") + " in " + folder +
                    " passed over: points and lines have no area");
  if (choices.no_annotation != 0)
    lines.push_back(counted(choices.no_annotation, "object") + " in " + folder +
                    " passed over: detections, cells and tiles are no regions");
}

void add_moved_regions(Lines& lines, const std::vector<SlideFile>& slides, SlideRegions::Origin origin) {
  std::size_t moved = 0;
  const SlideFile* first = nullptr;
  for (const SlideFile& slide : slides)
    if ((slide.choice.moved_x != 0 || slide.choice.moved_y != 0) && moved++ == 0) first = &slide;
  if (first == nullptr) return;
  lines.push_back(counted(moved, "slide") + ": regions " +
                  (origin == SlideRegions::Origin::automatic ? "of QuPath " : "") + "moved by OpenSlide's bounds, " +
                  (moved == 1 ? "" : "those of " + printable(first->name) + " by ") + "x " +
                  std::to_string(first->choice.moved_x) + ", y " + std::to_string(first->choice.moved_y));
}

// Adds lines about slides without a place, and about listed places that are not records.
void add_without_places(Lines& lines, const Choices& choices, SlideEdges edges) {
  if (choices.empty > choices.without_list)
    lines.push_back(
        counted(choices.empty - choices.without_list, "slide") +
        (choices.listed ? " without a record: no listed place lies on it" : " without a record: smaller than `size`"));
  if (choices.beyond != 0)
    lines.push_back(counted(choices.beyond, "listed place") + (edges == SlideEdges::drop
                                                                   ? " reach beyond a slide, and are left out"
                                                                   : " lie outside of a slide, and are left out"));
  if (choices.twice != 0) lines.push_back(counted(choices.twice, "place") + " listed again, and left out");
  if (choices.without_list != 0)
    lines.push_back(counted(choices.without_list, "slide") + " without a list of places: no record");
}

// Adds a line if the member `lacks` of any slide is not empty. The line has the number of such slides, and one of them
// as an example.
void add_lacking(Lines& lines, const std::vector<SlideFile>& slides, std::string SlideFile::FileContents::*lacks,
                 const std::string& what) {
  std::size_t incomplete = 0;
  const SlideFile* example = nullptr;
  for (const SlideFile& slide : slides)
    if (!slide.failure && !(slide.found.*lacks).empty() && incomplete++ == 0) example = &slide;
  if (example == nullptr) return;
  lines.push_back(counted(incomplete, "slide") + (incomplete == 1 ? " has " : " have ") + what + ": " + example->path +
                  ": " + example->found.*lacks);
}

void add_unread_masks(Lines& lines, const std::vector<SlideFile>& slides) {
  std::size_t count = 0;
  const SlideFile* example = nullptr;
  for (const SlideFile& slide : slides)
    if (!slide.choice.unread_mask.empty() && count++ == 0) example = &slide;
  if (example == nullptr) return;
  lines.push_back(counted(count, "slide") + " of which parts can't be read, that count as glass: " + example->path +
                  ": " + example->choice.unread_mask);
}

// Adds lines about the slides that OpenSlide reads, and why it reads them.
void add_openslide_notes(Lines& notes, const std::vector<SlideFile>& slides, std::size_t count) {
  constexpr std::size_t max_listed = 5;
  const OpenSlideLibrary* const library = openslide_library();
  notes.push_back(counted(count, "slide") + " read through OpenSlide" +
                  (library == nullptr ? std::string(", which isn't here, and") : " " + library->version() + ",") +
                  " which is slower than tiles of JPEG or JPEG 2000:");
  std::size_t listed = 0;
  for (const SlideFile& slide : slides)
    if (!slide.failure && !slide.found.why_openslide.empty() && listed++ < max_listed)
      notes.push_back("  " + slide.path + ": " + slide.found.why_openslide);
}

}  // namespace

std::vector<std::string> notes_of(const SlideOpener& opening, const std::vector<SlideFile>& slides,
                                  const std::vector<std::string>& unknown_classes) {
  const Slides& options = opening.options;
  std::vector<std::string> notes;
  std::size_t whole = 0, parts = 0, regions = 0, resampled = 0, apart = 0;
  for (const SlideFile& slide : slides)
    if (!slide.failure && slide.records.grid.size() != 0) {
      ++(!slide.found.why_openslide.empty() ? regions
         : slide.records.whole_tiles        ? whole
         : slide.records.blocks != 0        ? parts
                                            : apart);
      if (slide.image.scale.resampled) ++resampled;
    }
  notes.emplace_back("images are promised: of each no more is decoded than a stage, or the batch, needs");
  if (regions != 0) add_openslide_notes(notes, slides, regions);
  if (resampled != 0)
    notes.push_back(counted(resampled, "slide") +
                    ": no stored level has the size of pixels that is asked for, so a finer one is made smaller");
  if (whole != 0)
    notes.push_back(counted(whole, "slide") +
                    ": no two records share a tile of the file, so each is decoded into its row");
  if (apart != 0)
    notes.push_back(counted(apart, "slide") +
                    ": a record is made of so many tiles that few are shared, so each is decoded for its record alone");
  if (parts != 0) {
    notes.push_back(
        counted(parts, "slide") +
        ": records share tiles of the file, which are kept decoded while there is room, or decoded in part");
    notes.emplace_back(
        "damage outside of the part that is decoded of a tile is found with check({.verify = true}) only");
    if (options.order == SlideOrder::rows)
      notes.emplace_back("for shuffle({.blocks = true}), .order = SlideOrder::squares decodes fewer tiles twice");
  }
  const auto stained = static_cast<std::size_t>(
      std::ranges::count_if(slides, [](const SlideFile& slide) { return !slide.records.stain.empty(); }));
  if (stained != 0)
    notes.push_back(counted(stained, "slide") + " with a fit of stains, " +
                    (*options.stain.method == StainMethod::macenko ? "Macenko's" : "Reinhard's") + ", of " +
                    std::to_string(options.stain.patches) + " squares of tissue at most: field \"" +
                    printable(options.stain.field) + "\"");
  for (std::string& line : left_out_of(opening, slides, unknown_classes)) notes.push_back(std::move(line));
  constexpr std::size_t max_listed = 5;
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(slides, [](const SlideFile& slide) { return slide.failure.has_value(); }));
  if (failed != 0) notes.push_back(counted(failed, "slide") + " that can't be read, each one record that is an error:");
  std::size_t listed = 0;
  for (const SlideFile& slide : slides)
    if (slide.failure && listed++ < max_listed)
      notes.push_back("  " + slide.path + ": " + slide.failure->cause() +
                      (slide.failure->file() == slide.path ? "" : " (" + slide.failure->file() + ")"));
  return notes;
}

std::vector<std::string> left_out_of(const SlideOpener& opening, const std::vector<SlideFile>& slides,
                                     const std::vector<std::string>& unknown_classes) {
  const Slides& options = opening.options;
  const SlideTable& table = opening.table;
  const SlideOpener::Counts& counts = opening.counts;
  const Choices choices = choices_of(slides);
  Lines lines;
  add_not_shown(lines, choices, options);
  if (counts.without_regions != 0)
    lines.push_back(counted(counts.without_regions, "slide") + " without a file in " + options.regions.folder +
                    ", taken to have no region");
  add_passed_annotations(lines, choices, options.regions.folder);
  add_moved_regions(lines, slides, options.regions.origin);
  add_without_places(lines, choices, options.edges);
  if (counts.other_instances != 0)
    lines.push_back(counted(counts.other_instances, "file") +
                    " of DICOM series passed over: one file stands for its series");
  if (counts.other_lists != 0)
    lines.push_back(counted(counts.other_lists, "list") + " of places passed over: no slide has that name");
  if (counts.unlisted != 0)
    lines.push_back(counted(counts.unlisted, "slide") + " left out, as " + options.labels + " has no line of them");
  if (table.other_lines != 0)
    lines.push_back(counted(table.other_lines, "line") + " of " + options.labels +
                    " passed over: no slide has that name");
  lines.insert(lines.end(), table.notes.begin(), table.notes.end());
  lines.insert(lines.end(), unknown_classes.begin(), unknown_classes.end());
  if (const auto count = std::ranges::count_if(slides, &SlideFile::passed_over); count != 0)
    lines.push_back(counted(count, "slide") + " passed over: not among those that are opened");
  add_lacking(lines, slides, &SlideFile::FileContents::missing_levels, "levels that can't be read");
  add_lacking(lines, slides, &SlideFile::FileContents::unread_images, "images that are not read");
  add_unread_masks(lines, slides);
  if (!table.elsewhere.empty())
    lines.push_back(options.labels + " says that slides lie in " + printable(table.elsewhere) +
                    "; they are taken by the ends of their paths");
  if (table.guessed_column)
    lines.push_back("the column \"" + printable(*table.guessed_column, 60) + "\" of " + options.labels +
                    " is taken for the slides' names; `slide_column` may name another");
  return lines;
}

}  // namespace penstock::slide
