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
#include "table/slide_table.hpp"

namespace penstock {

/// What copies of a source share. Immutable but for open files and decoders.
class SlideSource::Impl {
 public:
  explicit Impl(Slides options);

  /// A record: its slide, and its place there.
  struct Record {
    const slide::SlideFile* slide;
    slide::SlideBox box;  ///< of the whole image; with SlideEdges::pad it reaches beyond the slide
  };
  /// @throws Error(not_found) past the end.
  Record record(std::uint64_t index) const;
  /// @throws Error(not_found) past the end.
  const slide::SlideFile& slide_of_block(std::uint64_t block) const;
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
  Schema schema;
  std::vector<SlideInfo> infos;
  std::uint64_t size = 0, blocks = 0, identity = 0;
  mutable slide::LevelReaders readers;

 private:
  void check_options() const;
  void check_tissue() const;
  void find_files();
  void read_table();
  void open_slides();
  void lay_grids();
  void find_tissue();
  void number();
  void describe();
  void add_openslide_notes(std::size_t count, std::vector<std::string>& notes) const;
  std::size_t left_out_ = 0;  ///< slides that `labels` does not list
};

}  // namespace penstock
