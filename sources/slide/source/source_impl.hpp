#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/promised_tile.hpp"
#include "regions/region_places.hpp"
#include "table/slide_table.hpp"

namespace penstock {

/// What copies of a source share. Immutable but for open files and decoders.
class SlideSource::Impl {
 public:
  explicit Impl(Slides options);

  /// A record: its slide, and its place there.
  struct Record {
    const slide::SlideFile* slide;
    std::uint64_t number;  ///< among the slide's
    slide::SlideBox box;   ///< of the whole image; with SlideEdges::pad it reaches beyond the slide
    std::int64_t x, y;     ///< its top left pixel, at level 0
  };
  /// @throws Error(not_found) past the end.
  Record record(std::uint64_t index) const;
  /// @throws Error(not_found) past the end.
  const slide::SlideFile& slide_of_block(std::uint64_t block) const;
  /// The value of the field `regions.field`.
  std::int64_t shown_class(const slide::SlideFile& slide, std::uint64_t record) const noexcept;
  std::vector<std::string> notes() const;
  std::vector<std::string> left_out() const;
  /// What the slide was opened with.
  slide::SlideWish wish_of(std::size_t number) const;

  Slides options;
  slide::ImageRules rules;
  std::vector<std::string> names;  ///< of the slides
  std::vector<slide::SlideFile> slides;
  std::vector<std::string> groups;  ///< names, of the slides
  slide::SlideTable table;
  std::vector<std::string> region_classes;  ///< those of the field `regions.field`
  Schema schema;
  std::vector<SlideInfo> infos;
  std::uint64_t size = 0, blocks = 0, identity = 0;
  mutable slide::LevelReaders readers;

 private:
  void check_options() const;
  void check_tissue() const;
  void check_regions() const;
  void find_files();
  void read_table();
  void open_slides();
  void find_region_files();
  void lay_grids();
  void lay_lists();
  std::vector<const SlideCoords*> lists_of_slides();
  slide::Grid listed_places(const slide::SlideFile& slide, const SlideCoords& list);
  void choose_places();
  static void keep_places(slide::SlideFile& slide, const std::vector<bool>& wanted, const slide::ShownClasses& classes);
  void check_classes(const std::vector<std::string>& there) const;
  void number_classes(const std::vector<std::vector<std::string>>& told);
  void number();
  void describe();
  void add_openslide_notes(std::size_t count, std::vector<std::string>& notes) const;
  std::size_t left_out_ = 0;                            ///< slides that `labels` does not list
  std::size_t without_regions_ = 0;                     ///< slides without a file of regions
  std::size_t other_lists_ = 0, without_list_ = 0;      ///< lists without a slide, slides without a list
  std::uint64_t places_beyond_ = 0, places_twice_ = 0;  ///< of lists, that are no records
  std::uint64_t without_area_ = 0, no_annotation_ = 0;  ///< as Regions has them
};

}  // namespace penstock
