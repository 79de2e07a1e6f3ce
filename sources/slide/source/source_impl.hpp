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
#include "source/opening.hpp"

namespace penstock {

/// What copies of a source share. Immutable but for open files and decoders.
class SlideSource::Impl : public slide::Opening {
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
  slide::ImageRules rules;
  std::vector<slide::SlideFile> slides;
  std::vector<std::string> groups;          ///< names, of the slides
  std::vector<std::string> region_classes;  ///< those of the field `regions.field`
  Schema schema;
  std::vector<SlideInfo> infos;
  std::uint64_t size = 0, blocks = 0, identity = 0;

 private:
  void check_classes() const;
  void number_classes();
  void number();
  void describe();
  void add_openslide_notes(std::size_t count, std::vector<std::string>& notes) const;
};

}  // namespace penstock
