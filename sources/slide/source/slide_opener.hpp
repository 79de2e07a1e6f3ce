// SPDX-License-Identifier: Apache-2.0
// Opens slides: finds what concerns all of them, then opens each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "regions/region_places.hpp"
#include "table/slide_table.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns a list of at most 10 of the names, for a sentence of a message.
std::string listed(const std::vector<std::string>& names);

class SlideOpener {
 public:
  /// Finds the files, their lines in the table, their lists of places and their files of regions. Opens no slide.
  /// @throws like SlideSource.
  explicit SlideOpener(Slides options);

  std::size_t count() const noexcept { return names.size(); }
  /// Returns the settings with which the slide is opened.
  SlideOpenOptions settings_of(std::size_t number) const;
  /// Opens a slide and chooses its places. If it can't be read, its `failure` is set. Any thread.
  SlideFile open(std::size_t number) const;
  /// Returns whether the slide is to be opened.
  bool is_wanted(std::size_t number) const noexcept { return wanted_[number]; }
  /// Returns what is known of a slide that is not to be opened: its name, and the classes of its regions.
  SlideFile passed_over(std::size_t number) const;
  /// Returns the slide's list of places; null if it has none.
  const SlideCoords* list_of(std::size_t number) const noexcept { return lists_.empty() ? nullptr : lists_[number]; }
  const std::string& region_file_of(std::size_t number) const noexcept;
  /// Returns the slide's other files. Empty if the slide is one file.
  const std::vector<std::string>& other_files_of(std::size_t number) const noexcept { return other_files_[number]; }
  /// Frees lists and files of regions, which are not needed once all slides are open.
  void forget_choices();

  Slides options;                  ///< the options; `paths` has all slides' files, and `stride` its actual value
  std::vector<std::string> names;  ///< names of the slides
  SlideTable table;
  /// Counts for the notes.
  struct Counts {
    std::size_t unlisted = 0;         ///< slides that `labels` does not list, which are left out
    std::size_t without_regions = 0;  ///< slides without a file of regions
    std::size_t other_lists = 0;      ///< lists of places without a slide
    std::size_t other_instances = 0;  ///< files of DICOM series that another file represents
  };
  Counts counts;
  std::shared_ptr<LevelReaders> readers;

 private:
  void find_files();
  void keep_one_of_each_series();
  void read_table();
  void find_region_files();
  SlideTissue mask_rules() const;

  std::vector<char> wanted_;
  std::vector<std::vector<std::string>> other_files_;  // per slide
  std::vector<const SlideCoords*> lists_;              // each slide's list of places; empty: slides have grids
  std::vector<std::string> region_files_;              // each slide's file of regions; empty: regions are not asked for
  std::shared_ptr<std::atomic<std::size_t>> keep_left_;
};

}  // namespace penstock::slide
