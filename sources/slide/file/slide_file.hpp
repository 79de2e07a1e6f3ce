// One slide as it was found when it was opened.
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

/// What is asked of a slide.
struct SlideWish {
  Wanted wanted = {};
  double own_mpp = 0;                         ///< micrometres a pixel, in place of what the file says; 0: none is given
  double assumed_mpp = 0;                     ///< where the file says none
  std::vector<std::string> other_files = {};  ///< files that it is made of besides: of a DICOM series, of MIRAX
  double mask_mpp = 0;                        ///< micrometres a pixel of a mask of tissue; 0: none is wanted
  bool all_levels = false;
};

struct SlideFile {
  std::string path, name;
  std::size_t number = 0;        ///< among the slides, for `OpenFiles`
  SlideWish wish;                ///< what it was opened with
  std::string region_file;       ///< empty: there is none, or none is asked for
  std::optional<FileMark> mark;  ///< none: an index says what the slide is, and its file was not looked at
  FileSample sample;
  FileSample others;             ///< what tells that `wish.other_files` are the same
  bool passed_over = false;      ///< not opened, as another process has its records
  std::optional<Error> failure;  ///< why it can't be read

  /// What its file says.
  struct Found {
    std::vector<SlideLevel> levels;  ///< levels that are stored
    std::string missing_levels;      ///< why some can't be read, or are not among these; empty: all are there
    std::string unread_images;       ///< which images, about as large, are not read; empty: none is known of
    SlideBounds bounds;              ///< where its pixels lie; all 0 for a slide of an index
    Resolution resolution;
    /// The version of OpenSlide that was asked, or "none" where there was none; empty: none was needed.
    std::string openslide;
    std::string why_openslide;  ///< why it isn't read from its tiles; empty: it is
  };
  Found found;

  /// The image that records are boxes of, and what its pixels are read from.
  struct Image {
    std::size_t level_number = 0;  ///< the stored level that it is made of
    Level level;                   ///< that level
    Scale scale;                   ///< its size
    /// Offsets and sizes of tiles, as they stand in the file; empty: not kept.
    std::vector<std::byte> kept_offsets, kept_sizes;
  };
  Image image;

  std::optional<MaskSource> mask_source;  ///< where one is wanted
  std::vector<Level> all_levels;          ///< where they are wanted, as `found.levels`

  /// What choosing places met, for what is told of all slides.
  struct Choice {
    std::uint64_t struck = 0;             ///< places that tissue or regions left out
    bool without_list = false;            ///< others have lists of places
    std::uint64_t beyond = 0, twice = 0;  ///< listed places that lie beyond the slide, or are listed again
    std::vector<std::string> classes;     ///< classes of regions that the file has
    std::vector<std::string> shown;       ///< those of `classes` that records may show
    std::uint64_t without_area = 0, no_annotation = 0;  ///< as Regions has them
    std::int64_t moved_x = 0, moved_y = 0;              ///< pixels that its regions were moved by
    /// Why parts of the mask could not be read, and count as glass; empty: all could.
    std::string unread_mask;
  };
  Choice choice;

  struct Records {
    Grid grid;
    std::uint64_t places = 0;                   ///< places of the grid, records or not
    std::uint64_t first = 0;                    ///< record
    bool whole_tiles = false;                   ///< each record is whole tiles, which no other record needs
    std::uint64_t first_block = 0, blocks = 0;  ///< tiles that are kept decoded while there is room; none: they are not
    int digits = 6;                             ///< digits of numbers in keys
    /// Numbers of the classes that records may show, in the field's order of classes.
    std::vector<std::int64_t> class_numbers;
    PackedNumbers shown_classes;  ///< class of each record: 0, for none, or a place in `class_numbers` plus 1
    std::vector<float> stain;     ///< values of its fit; empty: it isn't asked for, or there is no record
  };
  Records records;

  /// Whether a view leaves out more of its places than tissue and regions do.
  bool is_view() const noexcept { return !failure && records.places - records.grid.size() != choice.struck; }
};

/// What can be wrong with the file, or with the wish, is in `failure`. Keeps the places of its tiles where these are
/// not more than `keep_left` bytes, which they are taken from. Any thread.
SlideFile open_slide(const std::string& path, std::size_t number, const SlideWish& wish,
                     std::atomic<std::size_t>& keep_left);

/// Of a slide that an index describes: opens it as it is and compares. What it holds of places, regions and stains, the
/// file can't tell. @throws Error(corrupt) where the file says something else, Error(io) where it was changed.
void check_against_file(const SlideFile& slide);

/// The slide with another stored level to read pixels of.
SlideFile at_level(const SlideFile& slide, std::size_t number, const Level& level);

}  // namespace penstock::slide
