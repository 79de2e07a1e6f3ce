// SPDX-License-Identifier: Apache-2.0
// What is known of a slide after it was opened.
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
struct SlideOpenOptions {
  ScaleRequest wanted = {};
  double own_mpp = 0;                         ///< micrometres per pixel, instead of the file's value; 0: none is given
  double assumed_mpp = 0;                     ///< micrometres per pixel if the file has no value; 0: none is given
  std::vector<std::string> other_files = {};  ///< the slide's other files, if it is a DICOM series or MIRAX
  double mask_mpp = 0;                        ///< micrometres per pixel of a tissue mask; 0: no mask is wanted
  bool all_levels = false;
};

struct SlideFile {
  std::string path, name;
  std::size_t number = 0;        ///< its number among all slides, for `OpenFiles`
  SlideOpenOptions settings;     ///< the settings with which it was opened
  std::string region_file;       ///< its file of regions; empty: there is none, or regions are not asked for
  std::optional<FileMark> mark;  ///< none: the file was not opened, like the file of a slide from an index
  PartialDigest sample;
  PartialDigest others;          ///< identifies `settings.other_files`
  bool passed_over = false;      ///< not opened, because another process has its records
  std::optional<Error> failure;  ///< why it can't be read

  /// What the slide's file contains.
  struct FileContents {
    std::vector<SlideLevel> levels;
    std::string missing_levels;  ///< why some of the file's levels can't be read, or may be missing in `levels`; empty:
                                 ///< no reason is known
    std::string unread_images;   ///< which other large images of the file are not read; empty: none is known
    SlideBounds bounds;          ///< where its pixels are; all 0 if unknown, as for a slide from an index
    Resolution resolution;
    /// The version of OpenSlide that was asked. "none": OpenSlide was needed, and not found. Empty: it was not needed.
    std::string openslide;
    std::string why_openslide;  ///< why this library doesn't read the tiles itself; empty: it does
  };
  FileContents found;

  /// The image that records are cut from, and the level that its pixels come from.
  struct Image {
    std::size_t level_number = 0;  ///< the stored level that the image is made of
    Level level;                   ///< that level
    Scale scale;                   ///< the image's size
    /// Offsets and sizes of the level's tiles, as stored in the file; empty: not kept in memory.
    std::vector<std::byte> kept_offsets, kept_sizes;
  };
  Image image;

  std::optional<MaskSource> mask_source;  ///< set if a mask is wanted
  std::vector<Level> all_levels;          ///< set if `settings.all_levels` is true; the same levels as `found.levels`

  /// What was found when the slide's places were chosen, for the notes of the source.
  struct PlaceChoice {
    std::uint64_t struck = 0;   ///< places left out because they show too little tissue, or because of regions
    bool without_list = false;  ///< the slide has no list of places, but other slides have one
    std::uint64_t beyond = 0, twice = 0;  ///< how many listed places are outside of the slide; how many are repeated
    std::vector<std::string> classes;     ///< classes of regions that the file has
    std::vector<std::string> shown;       ///< the `classes` that records may show
    std::uint64_t without_area = 0, no_annotation = 0;  ///< see Regions
    std::int64_t moved_x = 0, moved_y = 0;              ///< pixels of level 0 by which its regions were moved
    /// Why parts of the mask could not be read, and count as glass; empty: all were read.
    std::string unread_mask;
  };
  PlaceChoice choice;

  struct Records {
    Grid grid;
    std::uint64_t places = 0;  ///< places of the grid, whether or not they are records
    std::uint64_t first = 0;   ///< number of its first record among the records of all slides
    /// If true, no tile has pixels of two places. Never true if OpenSlide decodes the tiles, or the image is resampled.
    bool whole_tiles = false;
    /// The source's blocks that are the level's decoded tiles: the number of the first, and how many. `blocks` is 0 if
    /// decoded tiles are not kept.
    std::uint64_t first_block = 0, blocks = 0;
    int digits = 6;  ///< digits of the numbers in its records' keys
    /// For each class of `choice.shown`, its number in the field that says which class a record shows.
    std::vector<std::int64_t> class_numbers;
    PackedNumbers shown_classes;  ///< for each record: 0 if it shows no class; otherwise 1 plus the position of
                                  ///< its class in `class_numbers`
    std::vector<float> stain;     ///< values of the fit of its stains; empty: not asked for, or the slide has no record
  };
  Records records;

  /// Returns whether the slide belongs to a view that leaves out some of its places. Places that were
  /// left out because of tissue or regions don't count.
  bool is_view() const noexcept { return !failure && records.places - records.grid.size() != choice.struck; }
};

/// Opens a slide. Sets `failure` if the file is faulty, or `settings` does not fit the file. Keeps the offsets
/// and sizes of the tiles in memory if they need at most `keep_left` bytes, and subtracts their bytes from `keep_left`.
/// Any thread.
SlideFile open_slide(const std::string& path, std::size_t number, const SlideOpenOptions& settings,
                     std::atomic<std::size_t>& keep_left);

/// Opens the file of a slide that comes from an index, and compares the slide with the file. Doesn't compare places,
/// regions and stains. @throws Error(corrupt) if the index describes the slide differently than the file does;
/// Error(io) if the file was changed after the index was made. If the file can't be read, throws the error that says
/// why.
void check_against_file(const SlideFile& slide);

/// Returns a copy of the slide that reads its pixels from a different stored level.
SlideFile at_level(const SlideFile& slide, std::size_t number, const Level& level);

}  // namespace penstock::slide
