// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/promised_tile.hpp"
#include "source/slide_opener.hpp"

namespace penstock {

/// State that copies of a source share. Immutable except for open files and decoders.
class SlideSource::Impl : public slide::SlideOpener {
 public:
  explicit Impl(Slides options);
  /// Makes a view of `all`: its records that have one of `values` in the field `slot`. With the field `regions.field`,
  /// the view also has the record of each slide that can't be read.
  Impl(const Impl& all, std::size_t slot, std::span<const std::int64_t> values);
  /// Slots of the fields that every source has. After these come `stain.field` and `regions.field`, if they are asked
  /// for, then the table's columns.
  enum Slot : std::size_t { image, slide_number, x, y, first_more };
  bool is_stain_field(std::size_t slot) const noexcept { return has_stain_field() && slot == first_more; }
  bool is_region_field(std::size_t slot) const noexcept {
    return has_region_field() && slot == first_more + (has_stain_field() ? 1 : 0);
  }
  /// Returns the table's column that is the field `slot`, or null if the field is not a column.
  const slide::SlideColumn* column_of(std::size_t slot) const noexcept {
    const std::size_t first = first_more + (has_stain_field() ? 1 : 0) + (has_region_field() ? 1 : 0);
    return slot < first ? nullptr : &table.columns[slot - first];
  }

  /// A record's slide, and its place on the slide.
  struct Record {
    const slide::SlideFile* slide;
    std::uint64_t number;  ///< its number among the slide's records
    slide::SlideBox box;   ///< its box of the slide's image; with SlideEdges::pad, it may extend past the image
    std::int64_t x, y;     ///< its top left pixel, at level 0
  };
  /// Returns a record. @throws Error(not_found) if `index` is not less than `size`.
  Record record(std::uint64_t index) const;
  /// Returns the slide that a block belongs to. @throws Error(not_found) if `block` is not less than `blocks`.
  const slide::SlideFile& slide_of_block(std::uint64_t block) const;

  slide::ImageRules rules;
  std::vector<slide::SlideFile> slides;
  std::vector<std::string> groups;           ///< the group of each slide
  std::vector<std::string> region_classes;   ///< classes of the field `regions.field`
  std::vector<std::string> unknown_classes;  ///< see slide::unknown_classes
  Schema schema;
  std::vector<SlideInfo> infos;
  std::uint64_t size = 0, blocks = 0, identity = 0;

 private:
  bool has_stain_field() const noexcept { return options.stain.method.has_value(); }
  bool has_region_field() const noexcept { return !options.regions.field.empty(); }
  void number();
  void describe();
  /// Returns the fields of the records, in the order of their slots.
  std::vector<Field> all_fields() const;
};

}  // namespace penstock
