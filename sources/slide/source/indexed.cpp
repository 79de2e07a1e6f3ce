// SPDX-License-Identifier: Apache-2.0
#include "source/indexed.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/on_threads.hpp"
#include "file/errors.hpp"
#include "file/identity/other_files.hpp"
#include "file/openslide/openslide_library.hpp"
#include "index/index_file.hpp"
#include "index/settings.hpp"
#include "source/places.hpp"

namespace penstock::slide {

std::uint64_t hash_of_list(const SlideCoords* list) {
  if (list == nullptr) return 0;
  const std::array<double, 4> said{list->size, list->downsample, static_cast<double>(list->slide_width),
                                   static_cast<double>(list->slide_height)};
  const std::uint64_t hash = XXH3_64bits(list->at.data(), list->at.size() * sizeof list->at.front());
  return XXH3_64bits_withSeed(said.data(), sizeof said, hash + static_cast<std::uint64_t>(list->level)) | 1;
}

std::uint64_t hash_of_regions(const std::string& file) {
  if (file.empty()) return 0;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const std::optional<std::string> text = read_text(file, source_name, most_bytes);
  return text ? XXH3_64bits(text->data(), text->size()) | 1 : 0;
}

namespace {

// Returns a hash of each wanted slide's file of regions. Reads all these files, because only their contents show
// whether they are unchanged.
std::vector<std::uint64_t> hashes_of_regions(const SlideOpener& opening) {
  std::vector<std::uint64_t> hashes(opening.count());
  common::for_each_on_threads(hashes.size(), 0, [&](std::size_t i) {
    if (opening.is_wanted(i)) hashes[i] = hash_of_regions(opening.region_file_of(i));
  });
  return hashes;
}

// Changes the order of a slide's places and their classes, because one index serves both orders.
void set_order(SlideFile& slide, SlideOrder order) {
  if (slide.failure || slide.records.grid.order() == order) return;
  const bool shows = !slide.records.shown_classes.words().empty();
  std::vector<std::uint64_t> numbers;
  slide.records.grid = slide.records.grid.in_order(order, shows ? &numbers : nullptr);
  if (!shows) return;
  PackedNumbers shown(numbers.size(), slide.records.shown_classes.bits());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    shown.set(i, slide.records.shown_classes[static_cast<std::size_t>(numbers[i])]);
  slide.records.shown_classes = shown;
}

// Checks that the slide's grid is possible with these options and the slide's size.
void check_places(const SlideOpener& opening, const SlideFile& slide, const std::string& path) {
  if (slide.failure) return;
  const bool listed = !opening.options.coords.empty();
  const bool chooses =
      opening.options.tissue.by != SlideTissue::By::everywhere || !opening.options.regions.folder.empty();
  bool can_be = slide.records.grid.is_list() == listed && (chooses || slide.choice.struck == 0);
  if (can_be && !listed) {
    const Grid whole = whole_grid(slide, opening.options);
    can_be = slide.records.grid.columns() == whole.columns() && slide.records.grid.rows() == whole.rows() &&
             slide.records.places == whole.size();
  }
  if (can_be) return;
  throw error_in(path, Errc::corrupt, "the places of slide " + printable(slide.name) + " in it can't be as it says");
}

}  // namespace

std::vector<SlideFile> indexed_slides(const SlideOpener& opening) {
  const std::string& path = opening.options.index;
  const std::optional<IndexContent> index = read_index(path);
  if (!index)
    throw error_in(path, Errc::not_found,
                   "there is no such index; make it by `write_slide_index`, or `penstock index`");
  const auto refuse = [&](const std::string& why) {
    throw error_in(path, Errc::invalid_argument, why + "; make the index anew");
  };
  if (const std::string other = first_difference(index->settings, index_settings(opening.options)); !other.empty())
    refuse("the index was made with other settings: " + other);
  const std::vector<std::uint64_t> regions = hashes_of_regions(opening);
  std::vector<SlideFile> slides;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < opening.count(); ++i) {
    const auto entry = index->entries.find(opening.names[i]);
    if (entry == index->entries.end()) {
      missing.push_back(opening.names[i]);
      continue;
    }
    try {
      const EntryKey key = key_of_entry(entry->second);
      if (key.own_mpp != opening.settings_of(i).own_mpp)
        refuse("slide " + printable(key.name) + " has other micrometres a pixel in the table now");
      if (key.list != hash_of_list(opening.list_of(i)))
        refuse("slide " + printable(key.name) + " has another list of places now");
      if (opening.is_wanted(i) && key.regions != regions[i])
        refuse("slide " + printable(key.name) + " has other regions now, in " +
               printable(opening.region_file_of(i).empty() ? "no file" : opening.region_file_of(i)));
      if (opening.is_wanted(i) && key.others != sample_of_all(opening.other_files_of(i)))
        refuse("slide " + printable(key.name) + " has other files now, of those that it is made of besides its own");
      // Without OpenSlide, the slide's records are errors, so the version doesn't matter.
      if (openslide_library() != nullptr && !key.openslide.empty() && key.openslide != openslide_version())
        refuse("slide " + printable(key.name) + " was read by OpenSlide " + printable(key.openslide) +
               ", and this is " + openslide_version());
      slides.push_back(slide_of_entry(entry->second));
    } catch (const Error& failed) {
      if (!failed.file().empty()) throw;
      throw error_in(path, failed.code(), failed.cause());
    }
    SlideFile& slide = slides.back();
    check_places(opening, slide, path);
    const std::optional<StainMethod>& method = opening.options.stain.method;
    const bool has_fit = method && !slide.failure && slide.records.grid.size() != 0;
    if (slide.records.stain.size() != (has_fit ? StainFit::reference(*method).values().size() : 0))
      throw error_in(path, Errc::corrupt, "what it has of the stains of slide " + printable(slide.name) + " can't be");
    slide.path = opening.options.paths[i];
    slide.number = i;
    slide.region_file = opening.region_file_of(i);
    slide.settings = opening.settings_of(i);
    if (!opening.is_wanted(i)) {
      SlideFile passed;
      passed.path = slide.path;
      passed.name = slide.name;
      passed.number = i;
      passed.region_file = slide.region_file;
      passed.passed_over = true;
      passed.choice.classes = std::move(slide.choice.classes);
      passed.choice.shown = std::move(slide.choice.shown);
      slide = std::move(passed);
      continue;
    }
    set_order(slide, opening.options.order);
  }
  if (!missing.empty())
    refuse(std::to_string(missing.size()) + " of " + std::to_string(opening.count()) +
           " slides are not in it: " + listed(missing));
  return slides;
}

}  // namespace penstock::slide
