// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// Which places of a slide are records, and which class they show, by regions that a person drew or a program found.
///
/// Each slide has a file of regions. The file's name is the slide's name (`SlideInfo::name`), or the name of the
/// slide's file, followed by one of these endings:
///
/// - `.geojson` or `.json`: GeoJSON, as QuPath and TRIDENT write it. Regions are the file's polygons, in pixels of
///   level 0. A region's class is the `name` of its `classification`, or the `names` with ": " between them, or the
///   `classification` itself if it is text.
/// - `.xml`: XML, as ASAP writes it. Regions are the file's annotations of the types Polygon, Rectangle and Spline. A
///   Spline is read as the polygon of its points. A region's class is its `PartOfGroup`; "None" means no class.
/// - `.png`: a small picture of the whole slide, grey or with a palette. 0 is not a region. Each other value is a
///   region, whose class has that number as its name: "1" to "255".
///
/// Coordinates count from the top left pixel of level 0, or from the top left pixel of OpenSlide's bounds: see
/// `origin`.
///
/// A region without a class has the class "unclassified". Points and lines, which have no area, are skipped, and so are
/// QuPath's detections, cells and tiles. `SlideSource::left_out` reports how many were skipped.
///
/// Regions are compared with places on a coarse grid of pixels. A pixel covers k x k pixels of level 0. The number k is
/// the largest whole number for which a pixel is not larger than `mpp` micrometres, and at least 1. If a slide's file
/// doesn't have the size of a pixel, level 0 is assumed to have half a micrometre per pixel.
///
/// A pixel is in a polygon if the pixel's centre is in the polygon. The centre is in the polygon if an odd number of
/// edges of the polygon's rings cross the centre's row at the centre or to the left of it. An edge crosses the rows
/// from its upper end (included) to its lower end (excluded). With a PNG, a pixel has the value that the PNG has at the
/// pixel's centre. A pixel is in a class if it is in one of the regions of the class.
struct SlideRegions {
  /// The folder with the files. Default (empty): regions are not used.
  std::string folder = {};
  /// Classes that records show; "*" is every class. Default (empty): records may be anywhere, except in `exclude`.
  std::vector<std::string> include = {};
  /// Classes that records don't show; "*" is every class. A pixel in such a class does not count as a pixel in a class
  /// of `include`.
  std::vector<std::string> exclude = {};
  /// A place is a record if at least this share of its pixels is in a class of `include`, and in no class of `exclude`.
  /// If `include` is empty, a place is a record if at least this share of its pixels is in no class of `exclude`. 0 to
  /// 1. With 0, at least one pixel is required. A place has the same pixels as for `SlideTissue`; the part of a place
  /// outside of the slide doesn't count.
  double least = 0.5;
  /// Name of a field, i64, with the class that a record shows. Default (empty): no such field.
  ///
  /// The class is one of `include`. If `include` is empty or has "*", it is any class that is not in `exclude`. It is
  /// the class that has the most pixels of the record, not counting pixels in a class of `exclude`. If several classes
  /// have equally many pixels, it is the class whose name comes first. Classes are numbered from 0 in the order of
  /// their names' bytes, and the schema has their names.
  ///
  /// If `include` is empty, a record may show no class. Its field is then 0, the number of a class whose name is empty.
  /// A record shows no class if the share of its pixels in classes is less than `least`, or is 0.
  std::string field = {};
  /// Largest size of a pixel of the coarse grid, in micrometres: 0.05 to 200. A slide can't be read if it would have
  /// more than 134 million of these pixels.
  double mpp = 4;
  /// What to do with slides that have no file of regions.
  enum class Missing : std::uint8_t {
    refuse,  ///< throw an error that lists them
    empty,   ///< treat them as slides without a region
  };
  /// What to do with slides that have no file of regions. Default: throw an error.
  Missing missing = Missing::refuse;
  /// What coordinates in files of regions count from. OpenSlide's bounds are the part of a slide that has an image. The
  /// origin matters if the bounds are not the whole slide, as for slides of Leica and MIRAX.
  enum class Origin : std::uint8_t {
    /// `bounds` for GeoJSON in which each feature has an `objectType` or `id` of one of QuPath's objects. With any
    /// other file, the slide is an error if `slide` and `bounds` would put its regions at different places.
    automatic,
    slide,  ///< the top left pixel of level 0
    bounds  ///< the top left pixel of OpenSlide's bounds; if the slide has no bounds, the top left pixel of level 0
  };
  /// What coordinates in files of regions count from. With `bounds`, a PNG is a picture of the bounds only, and
  /// OpenSlide must know the size of the bounds. `SlideSource::left_out` reports slides whose regions were moved.
  Origin origin = Origin::automatic;
};

}  // namespace penstock
