// What a file of regions says, in whichever form.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "file/slide_bounds.hpp"

namespace penstock::slide {

/// A point of a ring, in pixels of level 0, from wherever the file counts.
struct RegionPoint {
  double x = 0, y = 0;
};

/// Rings of points: what an odd number of them surrounds is inside. They need not end where they begin.
struct RegionPolygon {
  std::vector<std::vector<RegionPoint>> rings;
};

/// All regions of one class.
struct RegionClass {
  std::string name;
  std::vector<RegionPolygon> polygons;
  std::uint8_t value = 0;  ///< value that the picture has for it; 0: there is none
};

/// A mask in small: for each pixel the value of a class, or 0.
struct RegionPicture {
  std::int32_t width = 0, height = 0;
  SlideBounds covers = {};  ///< the part of the slide that it is of; without a size: all of it
  std::vector<std::uint8_t> values;
  struct Rows {
    std::int32_t first = 0, end = 0;
  };
  std::array<Rows, 256> rows{};  ///< rows in which a value is
};

struct Regions {
  std::vector<RegionClass> classes;  ///< all different, in the order of their names' bytes
  RegionPicture picture;
  std::uint64_t bytes = 0;          ///< bytes of the file
  std::uint64_t without_area = 0;   ///< points and lines, which were passed over
  std::uint64_t no_annotation = 0;  ///< detections, cells and tiles, which were passed over
  bool of_qupath = false;           ///< each feature of the file is one of QuPath's objects
};

inline constexpr const char* no_class = "unclassified";

/// The class of that name, which is added where there is none. One look takes time in the number of classes, which is
/// bounded. @throws Error(limit_exceeded) for more than 255 classes.
RegionClass& class_named(Regions& regions, const std::string& name, const std::string& path);

/// Where the regions of a slide are: the file of `folder` that has its name, or that of its file, and one of the
/// endings; empty where there is none. @throws Error(invalid_argument) where there are several.
std::string find_region_file(const std::string& folder, const std::string& slide_name, const std::string& slide_path);

/// @throws Error(corrupt | unsupported | limit_exceeded) for what is wrong with the file, Error(io | not_found) where
/// it can't be read; all with the file.
Regions read_region_file(const std::string& path);

}  // namespace penstock::slide
