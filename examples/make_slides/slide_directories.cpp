// SPDX-License-Identifier: Apache-2.0
#include "slide_directories.hpp"

#include <limits>

#include <fmt/format.h>

namespace make_slides {

namespace {

bool is_jpeg(const SlideWish& wish) { return wish.tile.compression == TileCompression::jpeg; }

// Returns the description that the software of Aperio's scanners gives images.
std::string aperio_description(const SlideWish& wish, const std::vector<DrawnLevel>& levels, std::size_t level) {
  const DrawnLevel& first = levels.front();
  std::string text = fmt::format("Aperio Image Library penstock-synth\r\n{}x{} [0,0 {}x{}] ({}x{})", first.width,
                                 first.height, first.width, first.height, wish.tile.side, wish.tile.side);
  if (level != 0) text += fmt::format(" -> {}x{}", levels[level].width, levels[level].height);
  return text + fmt::format(" {}/{} Q={}|AppMag = {}|MPP = {}", is_jpeg(wish) ? "JPEG" : "J2K",
                            wish.tile.rgb ? "RGB" : "YCC", wish.tile.quality, objective_power, microns_per_pixel);
}

std::string ome_description(const DrawnLevel& first, const SlideLayout& layout) {
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>)"
      R"(<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" Creator="penstock synth">)"
      R"(<Instrument ID="Instrument:0"><Objective ID="Objective:0" NominalMagnification="{}"/></Instrument>)"
      R"(<Image ID="Image:0"><InstrumentRef ID="Instrument:0"/><ObjectiveSettings ID="Objective:0"/>)"
      R"(<Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint8" BigEndian="{}" Interleaved="true" )"
      R"(SizeX="{}" SizeY="{}" SizeC="3" SizeZ="1" SizeT="1" PhysicalSizeX="{}" PhysicalSizeY="{}">)"
      R"(<Channel ID="Channel:0:0" SamplesPerPixel="3"/><TiffData IFD="0" PlaneCount="1"/></Pixels></Image></OME>)",
      objective_power, layout.tiff.big_endian, first.width, first.height, microns_per_pixel, microns_per_pixel);
}

TiffDirectory directory_of(const SlideWish& wish, const DrawnLevel& level, std::span<const std::byte> tables) {
  TiffDirectory directory;
  const auto number = [&](TiffTag tag, TiffType type, std::uint64_t value) { directory.set(tag, type, {value}); };
  number(TiffTag::new_subfile_type, TiffType::longs, 0);
  number(TiffTag::image_width, TiffType::longs, static_cast<std::uint64_t>(level.width));
  number(TiffTag::image_length, TiffType::longs, static_cast<std::uint64_t>(level.height));
  directory.set(TiffTag::bits_per_sample, TiffType::shorts, {8, 8, 8});
  constexpr std::uint64_t jpeg = 7, jpeg2000_ycc = 33003, jpeg2000_rgb = 33005;
  number(TiffTag::compression, TiffType::shorts, is_jpeg(wish) ? jpeg : wish.tile.rgb ? jpeg2000_rgb : jpeg2000_ycc);
  number(TiffTag::photometric, TiffType::shorts, wish.tile.rgb ? 2 : 6);  // RGB, YCbCr
  number(TiffTag::samples_per_pixel, TiffType::shorts, 3);
  number(TiffTag::planar_configuration, TiffType::shorts, 1);
  number(TiffTag::tile_width, TiffType::longs, static_cast<std::uint64_t>(wish.tile.side));
  number(TiffTag::tile_length, TiffType::longs, static_cast<std::uint64_t>(wish.tile.side));
  std::vector<std::uint64_t> offsets, counts;
  for (const TilePlace& tile : level.tiles) {
    offsets.push_back(tile.offset);
    counts.push_back(tile.bytes);
  }
  directory.set(TiffTag::tile_offsets, TiffType::offsets, std::move(offsets));
  directory.set(TiffTag::tile_byte_counts, TiffType::longs, std::move(counts));
  if (is_jpeg(wish)) directory.set_bytes(TiffTag::jpeg_tables, tables);
  if (is_jpeg(wish) && !wish.tile.rgb)
    directory.set(TiffTag::ycbcr_subsampling, TiffType::shorts,
                  {wish.tile.subsampling == 444 ? 1u : 2u, wish.tile.subsampling == 420 ? 2u : 1u});
  return directory;
}

// Sets how many pixels of the level are in a centimetre.
void set_resolution(TiffDirectory& directory, std::size_t level) {
  constexpr auto per_cm = static_cast<std::uint64_t>(10'000 / microns_per_pixel);
  for (const TiffTag tag : {TiffTag::x_resolution, TiffTag::y_resolution})
    directory.set(tag, TiffType::rationals, {per_cm, std::uint64_t{1} << level});
  directory.set(TiffTag::resolution_unit, TiffType::shorts, {3});
}

std::vector<TiffDirectory> directories_of(const SlideWish& wish, const std::vector<DrawnLevel>& levels,
                                          std::span<const std::byte> tables, const SlideLayout& layout) {
  std::vector<TiffDirectory> all;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    TiffDirectory directory = directory_of(wish, levels[level], tables);
    if (layout.format == SlideFormat::aperio) {
      directory.set_text(TiffTag::image_description, aperio_description(wish, levels, level));
    } else {
      if (level != 0) directory.set(TiffTag::new_subfile_type, TiffType::longs, {1});  // marks a reduced image
      set_resolution(directory, level);
      directory.set_text(TiffTag::software, "penstock synth");
    }
    all.push_back(std::move(directory));
  }
  if (layout.format == SlideFormat::ome) {
    all[0].set_text(TiffTag::image_description, ome_description(levels[0], layout));
    // The offsets are filled in later. The bytes that they take depend only on their number.
    if (levels.size() > 1)
      all[0].set(TiffTag::sub_ifds, TiffType::directories, std::vector<std::uint64_t>(levels.size() - 1));
  }
  return all;
}

std::uint64_t directory_bytes(const std::vector<TiffDirectory>& directories, const TiffForm& form) {
  std::uint64_t total = 0;
  for (const TiffDirectory& directory : directories) total += directory.bytes(form);
  return total;
}

}  // namespace

std::vector<std::byte> write_directories(const SlideWish& wish, const std::vector<DrawnLevel>& levels,
                                         std::span<const std::byte> tables, SlideLayout& layout, NewFile& file) {
  std::vector<TiffDirectory> directories = directories_of(wish, levels, tables, layout);
  const std::uint64_t first = file.align(8);
  if (first + directory_bytes(directories, layout.tiff) > std::numeric_limits<std::uint32_t>::max())
    layout.tiff.big = true;
  std::vector<std::uint64_t> places{first};
  for (const TiffDirectory& directory : directories) places.push_back(places.back() + directory.bytes(layout.tiff));
  const bool nested = layout.format == SlideFormat::ome;
  if (nested && levels.size() > 1)
    directories[0].set(TiffTag::sub_ifds, TiffType::directories, {places.begin() + 1, places.end() - 1});
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const bool last = nested || i + 1 == directories.size();
    file.append(directories[i].written(layout.tiff, places[i], last ? 0 : places[i + 1]));
  }
  return tiff_header(layout.tiff, first);
}

}  // namespace make_slides
