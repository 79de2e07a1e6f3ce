// SPDX-License-Identifier: Apache-2.0
#include "source/slide_opener.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/slide_endings.hpp>

#include "file/errors.hpp"
#include "file/identity/other_files.hpp"
#include "regions/region_file.hpp"
#include "source/check_options.hpp"
#include "source/listed_places.hpp"
#include "source/places.hpp"
#include "stain/slide_stain.hpp"
#include "table/slide_names.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock::slide {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t max_listed = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(max_listed, names.size()); ++i)
    list += (i == 0 ? "" : ", ") + printable(in_list(names[i]));
  return names.size() > max_listed ? list + ", ..." : list;
}

namespace {

// Returns whether the file must be opened to find out whether it is DICOM.
bool may_be_dicom(const std::string& path) { return has_ending(path, ".dcm") || !names_slide(path); }

}  // namespace

SlideOpener::SlideOpener(Slides o)
    : options(std::move(o)),
      readers(std::make_shared<LevelReaders>(std::max<std::size_t>(options.max_open_files, 1),
                                             options.max_openslide_bytes)),
      keep_left_(std::make_shared<std::atomic<std::size_t>>(options.max_kept_bytes)) {
  check_options(options);
  if (options.stride == 0) options.stride = options.size - options.overlap;
  find_files();
  read_table();
  SlideLists lists = find_lists(options, names);
  lists_ = std::move(lists.of_slides);
  counts.other_lists = lists.of_none;
  find_region_files();
}

void SlideOpener::find_files() {
  if (options.paths.empty()) options.paths = files_of_pattern(options.files, source_name);
  for (std::size_t i = 0; i < options.paths.size(); ++i)
    wanted_.push_back(i >= options.first_file && i - options.first_file < options.file_count);
  keep_one_of_each_series();
  names = names_of_slides(options.paths);
  // Refuses a file that is given twice, by another name or a link, because a split could have it on both sides.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files;
  for (std::size_t i = 0; i < options.paths.size(); ++i) {
    struct stat status {};
    if (::stat(options.paths[i].c_str(), &status) != 0) continue;  // opening the slide reports the error
    const auto [first, fresh] = files.emplace(std::pair(status.st_dev, status.st_ino), i);
    if (!fresh)
      throw error_in(options.paths[i], Errc::invalid_argument,
                     "it is the same file as " + options.paths[first->second] + "; give one of the two");
  }
}

// Keeps one file of each DICOM series. OpenSlide reads the whole series from any of its files, so each file would be
// the same slide.
void SlideOpener::keep_one_of_each_series() {
  DicomFolders folders;
  std::set<DicomFolders::Series> known;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < options.paths.size(); ++i) {
    const std::string path = options.paths[i];
    std::vector<std::string> others;
    try {
      if (has_ending(path, ".mrxs")) others = files_of_mirax(path);
      if (may_be_dicom(path))
        if (const DicomFolders::Series series = folders.series_of(path); !series.identifier.empty()) {
          if (!known.insert(series).second) {
            ++counts.other_instances;
            continue;
          }
          others = folders.others_of(series, path);
        }
    } catch (const Error& failed) {
      if (!failed.sample_scoped()) throw;  // opening the slide reports the other errors
    }
    options.paths[kept] = path;
    wanted_[kept] = wanted_[i];
    other_files_.push_back(std::move(others));
    ++kept;
  }
  options.paths.resize(kept);
  wanted_.resize(kept);
}

// Reads the table. Refuses slides without a line, or leaves them out, as `options.unlisted` says.
void SlideOpener::read_table() {
  if (options.labels.empty()) return;
  std::vector<std::string> without;
  table = read_slide_table(options, options.paths, names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!table.listed[i]) without.push_back(names[i]);
  if (without.empty()) return;
  if (options.unlisted == Slides::Unlisted::refuse)
    throw error_in(options.labels, Errc::invalid_argument,
                   std::to_string(without.size()) + " of " + std::to_string(names.size()) +
                       " slides have no line: " + listed(without) +
                       "; give them one, or leave them out by `unlisted = Slides::Unlisted::leave_out`");
  counts.unlisted = without.size();
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
  keep_listed(wanted_);
  keep_listed(other_files_);
  keep_listed(options.paths);
}

// Finds each slide's file of regions.
void SlideOpener::find_region_files() {
  if (options.regions.folder.empty()) return;
  struct stat status {};
  if (::stat(options.regions.folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw error_in(options.regions.folder, Errc::not_found, "there is no such folder of regions");
  std::vector<std::string> without;
  for (std::size_t i = 0; i < names.size(); ++i) {
    region_files_.push_back(find_region_file(options.regions.folder, names[i], options.paths[i]));
    if (region_files_.back().empty()) without.push_back(names[i]);
  }
  counts.without_regions = without.size();
  if (!without.empty() && options.regions.missing == SlideRegions::Missing::refuse)
    throw error_in(options.regions.folder, Errc::invalid_argument,
                   std::to_string(without.size()) + " of " + std::to_string(names.size()) +
                       " slides have no file of regions in it, NAME.geojson, .json, .xml or .png: " + listed(without) +
                       "; give them one, or let them have no region by `regions.missing = "
                       "SlideRegions::Missing::empty`");
}

const std::string& SlideOpener::region_file_of(std::size_t number) const noexcept {
  static const std::string none;
  return region_files_.empty() ? none : region_files_[number];
}

void SlideOpener::forget_choices() {
  lists_.clear();
  options.coords = {};
  region_files_.clear();
}

SlideOpenOptions SlideOpener::settings_of(std::size_t number) const {
  return {.wanted = {options.level, options.mpp, options.magnification, options.mpp_tolerance},
          .own_mpp = table.mpp.empty() ? 0 : table.mpp[number],
          .assumed_mpp = options.assumed_mpp,
          .other_files = other_files_.empty() ? std::vector<std::string>() : other_files_[number],
          .mask_mpp = mask_rules().by == SlideTissue::By::everywhere ? 0 : mask_rules().mpp};
}

// Returns the rules of the mask that chooses places, or measures stains, or both. If `by` of the result is
// `everywhere`, no mask is needed.
SlideTissue SlideOpener::mask_rules() const {
  SlideTissue rules = options.tissue;
  if (rules.by == SlideTissue::By::everywhere && options.stain.method) rules = {.by = SlideTissue::By::saturation};
  return rules;
}

SlideFile SlideOpener::passed_over(std::size_t number) const {
  SlideFile slide;
  slide.path = options.paths[number];
  slide.name = names[number];
  slide.number = number;
  slide.region_file = region_file_of(number);
  slide.passed_over = true;
  take_classes(slide, options.regions);
  return slide;
}

SlideFile SlideOpener::open(std::size_t number) const {
  const FloatMode standard;  // masks and stain fits are the same in each process
  if (!is_wanted(number)) return passed_over(number);
  SlideFile slide = open_slide(options.paths[number], number, settings_of(number), *keep_left_);
  slide.name = names[number];
  slide.region_file = region_file_of(number);
  try {
    lay_grid(slide, options, list_of(number));
    if (!slide.failure) {
      std::optional<TissueMask> mask;
      if (slide.mask_source && slide.records.places != 0) mask = make_mask(*readers, slide, mask_rules());
      choose_places(slide, options, mask);
      if (options.stain.method && slide.records.grid.size() != 0)
        slide.records.stain = fit_slide(*readers, slide, *mask, mask_grid(slide, *mask), options.stain).values();
    }
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    slide.failure = failed.file().empty() && !slide.region_file.empty()
                        ? error_in(slide.region_file, failed.code(), failed.cause())
                        : failed;
  }
  if (slide.failure) {
    slide.records.grid = Grid::of_one();
    slide.records.places = 1;
    slide.choice = {};
    slide.records.shown_classes = {};
    take_classes(slide, options.regions);
  }
  slide.mask_source.reset();
  return slide;
}

}  // namespace penstock::slide
