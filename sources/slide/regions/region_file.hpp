// SPDX-License-Identifier: Apache-2.0
// The contents of a file of regions, in any format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "file/slide_bounds.hpp"

namespace penstock::slide {

/// A point of a ring, in pixels of level 0, counted from the file's own origin.
struct RegionPoint {
  double x = 0, y = 0;
};

/// Rings of points. A point is inside of the polygon if an odd number of the rings surrounds the point. A ring's last
/// point need not be its first point.
struct RegionPolygon {
  std::vector<std::vector<RegionPoint>> rings;
};

/// All regions of one class.
struct RegionClass {
  std::string name;
  std::vector<RegionPolygon> polygons;
  std::uint8_t value = 0;  ///< the value of the class's pixels in the picture; 0 if it has none
};

/// A small picture of a slide's regions. Each pixel has the value of a class, or 0.
struct RegionPicture {
  std::int32_t width = 0, height = 0;
  SlideBounds covers = {};  ///< the part of the slide that the picture shows; the whole slide if the size is 0
  std::vector<std::uint8_t> values;
  struct Rows {
    std::int32_t first = 0, end = 0;
  };
  std::array<Rows, 256> rows{};  ///< for each value, the rows from the first to the last that contain it
};

struct Regions {
  std::vector<RegionClass> classes;  ///< all different, in the order of their names' bytes
  RegionPicture picture;
  std::uint64_t bytes = 0;          ///< bytes of the file
  std::uint64_t without_area = 0;   ///< number of points and lines, which are skipped
  std::uint64_t no_annotation = 0;  ///< number of detections, cells and tiles, which are skipped
  bool of_qupath = false;           ///< the file has features, and each of them is an object of QuPath
};

inline constexpr const char* no_class = "unclassified";

/// Returns the class called `name`. Adds the class if it does not exist. Takes time at most proportional to the number
/// of classes. @throws Error(limit_exceeded) for more than 255 classes.
RegionClass& class_named(Regions& regions, const std::string& name, const std::string& path);

/// Finds the file of a slide's regions in `folder`. The file's name is the slide's name, or the name of the slide's
/// file, followed by .geojson, .json, .xml or .png. Returns an empty path if there is no such file. @throws
/// Error(invalid_argument) if there are several.
std::string find_region_file(const std::string& folder, const std::string& slide_name, const std::string& slide_path);

/// Reads a file of regions. All errors name the file. @throws Error(corrupt | unsupported | limit_exceeded) for faults
/// in the file, Error(io | not_found) if it can't be read.
Regions read_region_file(const std::string& path);

}  // namespace penstock::slide
