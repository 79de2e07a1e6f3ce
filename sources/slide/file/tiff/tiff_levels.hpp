// The levels of a slide that is a TIFF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "file/pyramid.hpp"
#include "file/tiff/ome.hpp"

namespace penstock::slide {

/// What to know of a TIFF's tiles where OpenSlide decodes them.
struct TilesOfOpenSlide {
  bool by_version_4 = false;  ///< only from version 4 on OpenSlide knows such files
  bool by_libtiff = false;    ///< OpenSlide has libtiff decode some of them: those that are no plain JPEG
  struct Size {
    std::int64_t width = 0, height = 0;
  };
  std::vector<Size> turned = {};  ///< images that are stored mirrored or turned, which OpenSlide doesn't see
};

/// Why a file's tiles are not read here; OpenSlide may know how.
struct NeedsOpenSlide {
  Errc code;
  std::string why;
  Resolution resolution = {};        ///< what the file says in the usual places, which OpenSlide may not look at
  std::optional<OmeImage> ome = {};  ///< the image that its OME-XML says to read, which is the one OpenSlide reads
  TilesOfOpenSlide tiles = {};
};

/// Reads a file's directories. Level 0 is its first image, or the one that OME-XML says. Further levels are the
/// sub-directories of that; else of Aperio's files all that are made of tiles, and of others those that are marked as
/// reduced images; each has to have the shape of level 0. `file_bytes`: its size.
/// @throws NeedsOpenSlide for what is no TIFF, for an image that is not made of tiles of JPEG or JPEG 2000, 8 bits, RGB
/// or YCbCr, and for makers whose tiles don't make the image by standing side by side; Error(corrupt) for a damaged
/// file; Error(unsupported) for what OpenSlide would not see: an image that is stored mirrored or turned, or of which
/// OME-XML says that it is one plane of several, or lies behind others.
Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes);

}  // namespace penstock::slide
