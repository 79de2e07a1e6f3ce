// SPDX-License-Identifier: Apache-2.0
// One slide in its state when it was opened.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/grid/packed_numbers.hpp"
#include "file/identity/file_mark.hpp"
#include "file/level.hpp"
#include "file/scale/mask_source.hpp"
#include "file/scale/resolution.hpp"
#include "file/scale/scale.hpp"
#include "file/slide_bounds.hpp"

namespace penstock::slide {

/// The settings with which a slide is opened.
struct SlideWish {
  Wanted wanted = {};
  double own_mpp = 0;                         ///< micrometres per pixel, instead of the file's value; 0: none is given
  double assumed_mpp = 0;                     ///< used if the file has none
  std::vector<std::string> other_files = {};  ///< its further files, for a DICOM series or MIRAX
  double mask_mpp = 0;                        ///< micrometres per pixel of a tissue mask; 0: no mask is wanted
  bool all_levels = false;
};

struct SlideFile {
  std::string path, name;
  std::size_t number = 0;        ///< its number among the slides, for `OpenFiles`
  SlideWish wish;                ///< what it was opened with
  std::string region_file;       ///< empty: there is none, or regions are not asked for
  std::optional<FileMark> mark;  ///< none: the slide comes from an index, and its file was not looked at
  FileSample sample;
  FileSample others;             ///< identifies `wish.other_files`
  bool passed_over = false;      ///< not opened, because another process has its records
  std::optional<Error> failure;  ///< why it can't be read

  /// What its file contains.
  struct Found {
    std::vector<SlideLevel> levels;  ///< stored levels
    std::string missing_levels;      ///< why some levels can't be read, or are missing here; empty: all are here
    std::string unread_images;       ///< which images of similar size are not read; empty: none is known
    SlideBounds bounds;              ///< where its pixels are; all 0 for a slide of an index
    Resolution resolution;
    /// The version of OpenSlide that was asked, or "none" if none was found; empty: none was needed.
    std::string openslide;
    std::string why_openslide;  ///< why its tiles are not read directly; empty: they are
  };
  Found found;

  /// The image that records are boxes of, and the source of its pixels.
  struct Image {
    std::size_t level_number = 0;  ///< the stored level that it is made of
    Level level;                   ///< that level
    Scale scale;                   ///< its size
    /// Offsets and sizes of tiles, as in the file; empty: not kept.
    std::vector<std::byte> kept_offsets, kept_sizes;
  };
  Image image;

  std::optional<MaskSource> mask_source;  ///< if a mask is wanted
  std::vector<Level> all_levels;          ///< if they are wanted, like `found.levels`

  /// Findings while places were chosen, for the notes about all slides.
  struct Choice {
    std::uint64_t struck = 0;                           ///< places that tissue or regions left out
    bool without_list = false;                          ///< it has no list of places, but other slides have
    std::uint64_t beyond = 0, twice = 0;                ///< listed places outside of the slide; listed a second time
    std::vector<std::string> classes;                   ///< classes of regions that the file has
    std::vector<std::string> shown;                     ///< those of `classes` that records may show
    std::uint64_t without_area = 0, no_annotation = 0;  ///< see Regions
    std::int64_t moved_x = 0, moved_y = 0;              ///< pixels that its regions were moved by
    /// Why parts of the mask could not be read, and count as glass; empty: all were read.
    std::string unread_mask;
  };
  Choice choice;

  struct Records {
    Grid grid;
    std::uint64_t places = 0;                   ///< places of the grid, whether or not they are records
    std::uint64_t first = 0;                    ///< record
    bool whole_tiles = false;                   ///< each record is whole tiles that no other record needs
    std::uint64_t first_block = 0, blocks = 0;  ///< tiles that are kept decoded while there is room; 0: they are not
                                                ///< kept
    int digits = 6;                             ///< digits of numbers in keys
    /// Numbers of the classes that records may show, in the field's order of classes.
    std::vector<std::int64_t> class_numbers;
    PackedNumbers shown_classes;  ///< class of each record: 0, for none, or a place in `class_numbers` plus 1
    std::vector<float> stain;     ///< values of its fit; empty: not asked for, or there is no record
  };
  Records records;

  /// Returns whether a view leaves out more of its places than tissue and regions do.
  bool is_view() const noexcept { return !failure && records.places - records.grid.size() != choice.struck; }
};

/// Opens a slide. Faults of the file, or of the wish, are in `failure`. Keeps the positions of its tiles if they need
/// at most `keep_left` bytes, which it reduces by that number. Any thread.
SlideFile open_slide(const std::string& path, std::size_t number, const SlideWish& wish,
                     std::atomic<std::size_t>& keep_left);

/// For a slide from an index: opens its file and compares. Places, regions and stains of the index can't be compared
/// with the file. @throws Error(corrupt) if the file differs, Error(io) if it was changed.
void check_against_file(const SlideFile& slide);

/// Returns the slide with a different stored level to read pixels from.
SlideFile at_level(const SlideFile& slide, std::size_t number, const Level& level);

}  // namespace penstock::slide
