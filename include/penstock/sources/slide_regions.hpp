#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// Which places of a slide are records, and what they are called: by regions that somebody drew, or a program found.
///
/// Each slide has a file of regions. Its name is the slide's (`SlideInfo::name`), or that of the slide's file, and then
/// one of these endings:
///
/// - `.geojson` or `.json`: GeoJSON, as QuPath and TRIDENT write it. Regions are its polygons, in pixels of level 0. A
///   region's class is the `name` of its `classification`, or the `names` with ": " between them, or the
///   `classification` itself where that is text.
/// - `.xml`: as ASAP writes it. Regions are its annotations of the types Polygon, Rectangle and Spline, the last as the
///   polygon of its points. A region's class is its `PartOfGroup`; "None" is none.
/// - `.png`: the whole slide in small, grey or with a palette. 0 is no region; each other value is a region, whose
///   class has that number as its name: "1" to "255".
///
/// Coordinates count from the top left pixel of level 0, or from that of OpenSlide's bounds: see `origin`.
///
/// A region without a class has the class "unclassified". What has no area, points and lines, and what QuPath calls
/// detections, cells and tiles, is passed over; `SlideSource::left_out` tells how many.
///
/// Regions are looked at in small: pixels of k x k pixels of level 0, k the largest whole number for which a pixel is
/// not larger than `mpp` micrometres, at least 1. Where a slide doesn't say how large a pixel is, half a micrometre is
/// taken for level 0. Such a pixel is in a polygon where its centre is: where an odd number of edges of its rings cross
/// the centre's row at the centre or to the left of it. An edge crosses the rows from its upper end on, up to its lower
/// end and without it. Of a PNG, a pixel has the value at its centre. A class is all that one of its regions has.
struct SlideRegions {
  /// The folder with the files. Empty: no regions are asked for.
  std::string folder = {};
  /// Classes that records show; "*" is every class. Empty: records lie anywhere, but for `exclude`.
  std::vector<std::string> include = {};
  /// Classes that records don't show: what is in one of these is in none of `include`. "*" is every class.
  std::vector<std::string> exclude = {};
  /// A place is a record where this share of its pixels at least is in a class of `include`, or anywhere where that is
  /// empty, and in no class of `exclude`. Pixels are counted as those of `SlideTissue`; what lies outside of the slide
  /// doesn't count. More than 0: a place without any is none. 0 to 1.
  double least = 0.5;
  /// A field of this name, i64, says which class a record shows: that of `include`, or of all but `exclude` where that
  /// is empty or "*", which most of its pixels have that are in no class of `exclude`; of two that are as good, the one
  /// whose name comes first. Classes are numbered from 0 in the order of their names' bytes, and the schema has their
  /// names. Where `include` is empty, 0 is the empty name: of records of which less than `least` is in a class. Empty:
  /// there is no such field.
  std::string field = {};
  /// Micrometres: 0.05 to 200. A slide that would have more than 134 million pixels of these can't be read.
  double mpp = 4;
  /// What becomes of slides without a file of regions.
  enum class Missing : std::uint8_t {
    refuse,  ///< an error that lists them
    empty,   ///< they have no region
  };
  /// What becomes of slides that have no file of regions.
  Missing missing = Missing::refuse;
  /// What coordinates in files of regions count from. It matters for slides whose OpenSlide's bounds, the part that has
  /// an image, are not the whole slide: those of Leica and MIRAX, say.
  enum class Origin : std::uint8_t {
    /// `bounds` for GeoJSON of which each feature says, in its `objectType` or `id`, which of QuPath's objects it is.
    /// An error of the slide for other files.
    automatic,
    slide,  ///< the top left pixel of level 0
    bounds  ///< the top left pixel of OpenSlide's bounds, where there are some, else that of level 0
  };
  /// What coordinates in files of regions count from. With `bounds` a PNG is one of the bounds alone, which have to say
  /// how large they are. A slide whose regions were moved is told by `SlideSource::left_out`.
  Origin origin = Origin::automatic;
};

}  // namespace penstock
