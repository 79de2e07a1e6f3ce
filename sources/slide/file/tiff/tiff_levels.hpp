// SPDX-License-Identifier: Apache-2.0
// Reads the levels of a slide that is a TIFF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "file/pyramid.hpp"
#include "file/tiff/ome.hpp"

namespace penstock::slide {

/// Facts about a TIFF's tiles for decoding by OpenSlide.
struct TilesOfOpenSlide {
  bool by_version_4 = false;  ///< OpenSlide knows such files only from version 4 on
  bool by_libtiff = false;    ///< OpenSlide decodes some of them with libtiff: the tiles that are not plain JPEG
  struct Size {
    std::int64_t width = 0, height = 0;
  };
  std::vector<Size> turned = {};  ///< images that are stored mirrored or turned, which OpenSlide doesn't notice
};

/// Thrown with the reason if a file's tiles can't be read here; OpenSlide may be able to.
struct NeedsOpenSlide {
  Errc code;
  std::string why;
  Resolution resolution = {};        ///< the resolution in the file's usual places, which OpenSlide may ignore
  std::optional<OmeImage> ome = {};  ///< the image that its OME-XML selects, which is the one that OpenSlide reads
  TilesOfOpenSlide tiles = {};
};

/// Reads a file's directories. Level 0 is its first image, or the one that OME-XML selects. Further levels are the
/// sub-directories of level 0. Without these they are all images made of tiles in Aperio's files, and the images marked
/// as reduced in other files. Each must have the shape of level 0. `file_bytes`: the file's size.
/// @throws NeedsOpenSlide if the file is not a TIFF, or
/// - the image is not made of tiles of JPEG or JPEG 2000, 8 bits, RGB or YCbCr;
/// - its maker's tiles don't form the image side by side.
/// @throws Error(corrupt) for a damaged file.
/// @throws Error(unsupported) for faults that OpenSlide would not notice: the image is stored mirrored or turned, or
/// OME-XML makes it one plane of several, or puts it after others.
Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes);

}  // namespace penstock::slide
