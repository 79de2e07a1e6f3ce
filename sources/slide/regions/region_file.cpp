// SPDX-License-Identifier: Apache-2.0
#include "regions/region_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/transforms/decode_png.hpp>

#include "file/errors.hpp"
#include "pixels/heap_scratch.hpp"
#include "regions/asap.hpp"
#include "regions/geojson.hpp"
#include "table/slide_names.hpp"

namespace penstock::slide {

namespace {

constexpr std::array<std::string_view, 4> endings{".geojson", ".json", ".xml", ".png"};

// Refuses a PNG with 16 bits per value. A PNG's header has the bits per value at a fixed position.
void refuse_wide(std::string_view encoded, const std::string& path) {
  constexpr std::size_t depth = 24;
  if (encoded.size() > depth && encoded.starts_with("\x89PNG") && encoded[depth] == 16)
    throw error_in(path, Errc::unsupported,
                   "the picture has values of 16 bits, and one of regions has classes 1 to 255: save it with 8 bits, "
                   "each class as its number");
}

// Reads a picture. Each value in it, except 0, becomes a class.
void read_picture(std::string_view encoded, const std::string& path, Regions& regions) {
  constexpr std::uint64_t most_pixels = std::uint64_t{1} << 27;
  refuse_wide(encoded, path);
  const auto decoding = png_decoder({.color = PngOptions::labels, .max_pixels = most_pixels})->start();
  RegionPicture& picture = regions.picture;
  try {
    const ImageShape shape = decoding->open(std::as_bytes(std::span(encoded)));
    picture.width = shape.width;
    picture.height = shape.height;
    picture.values.resize(static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height));
    HeapScratch scratch;
    const Pixels pixels = decoding->decode({0, 0, shape.height, shape.width}, true,
                                           reinterpret_cast<std::byte*>(picture.values.data()), scratch);
    const auto row_bytes = static_cast<std::size_t>(shape.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y) {
      const std::uint8_t* const row = pixels.data + static_cast<std::ptrdiff_t>(y) * pixels.stride;
      std::uint8_t* const to = picture.values.data() + y * row_bytes;
      if (row != to) std::memcpy(to, row, row_bytes);
    }
  } catch (const Error& failed) {
    throw error_in(path, failed.code(), failed.cause());
  }
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    RegionPicture::Rows& rows = picture.rows[picture.values[i]];
    const auto row = static_cast<std::int32_t>(i / static_cast<std::size_t>(picture.width));
    if (rows.end == 0) rows.first = row;
    rows.end = row + 1;
  }
  for (std::size_t value = 1; value < picture.rows.size(); ++value)
    if (picture.rows[value].end != 0)
      class_named(regions, std::to_string(value), path).value = static_cast<std::uint8_t>(value);
}

}  // namespace

RegionClass& class_named(Regions& regions, const std::string& name, const std::string& path) {
  std::vector<RegionClass>& classes = regions.classes;
  const auto at = std::lower_bound(classes.begin(), classes.end(), name,
                                   [](const RegionClass& one, const std::string& other) { return one.name < other; });
  if (at != classes.end() && at->name == name) return *at;
  constexpr std::size_t most = 255;
  if (classes.size() == most) throw error_in(path, Errc::limit_exceeded, "its regions are of more than 255 classes");
  return *classes.insert(at, RegionClass{name, {}, 0});
}

std::string find_region_file(const std::string& folder, const std::string& slide_name, const std::string& slide_path) {
  std::vector<std::string> found;
  const auto look = [&](const std::string& stem) {
    for (const std::string_view ending : endings) {
      std::string path = folder + "/" + stem + std::string(ending);
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) found.push_back(std::move(path));
    }
  };
  look(slide_name);
  const std::string file_name = file_name_of(slide_path),
                    with_ending = slide_name.substr(0, slide_name.rfind('/') + 1) + file_name;
  if (with_ending != slide_name) look(with_ending);
  if (found.size() > 1)
    throw error_in(
        found[1], Errc::invalid_argument,
        "slide " + printable(slide_name) + " has regions in it and in " + found[0] + "; keep one of the two");
  return found.empty() ? "" : found.front();
}

Regions read_region_file(const std::string& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::optional<std::string> there = read_text(path, source_name, most_bytes);
  if (!there) throw error_in(path, Errc::not_found, "it was there when the slides were opened");
  std::string text = std::move(*there);
  Regions regions;
  regions.bytes = text.size();
  if (path.ends_with(".xml"))
    read_asap(text, path, regions);
  else if (path.ends_with(".png"))
    read_picture(text, path, regions);
  else
    read_geojson(text, path, regions);
  constexpr double farthest = 4294967296;
  for (const RegionClass& one : regions.classes)
    for (const RegionPolygon& polygon : one.polygons)
      for (const std::vector<RegionPoint>& ring : polygon.rings)
        for (const RegionPoint& point : ring)
          if (!(std::abs(point.x) <= farthest && std::abs(point.y) <= farthest))
            throw error_in(path, Errc::corrupt, "a region has a point that can be on no slide");
  return regions;
}

}  // namespace penstock::slide
