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

/// Facts about a TIFF's tiles that matter if OpenSlide decodes them.
struct TilesOfOpenSlide {
  bool by_version_4 = false;  ///< OpenSlide reads the file only from version 4 on
  bool by_libtiff = false;    ///< OpenSlide decodes some tiles with libtiff, because they are not plain JPEG
  struct Size {
    std::int64_t width = 0, height = 0;
  };
  std::vector<Size> turned = {};  ///< sizes of images that are stored mirrored or turned; OpenSlide would not turn them
};

/// Thrown if this library can't read a file's tiles. OpenSlide may be able to.
struct NeedsOpenSlide {
  Errc code;
  std::string why;
  Resolution resolution = {};  ///< the resolution in the description or in TIFF's tags; OpenSlide may ignore these
  std::optional<OmeImage> ome = {};  ///< the image that OME-XML selects; OpenSlide reads the same one
  TilesOfOpenSlide tiles = {};
};

/// Reads a file's directories. Level 0 is the file's first image, or the image that OME-XML selects. The further levels
/// are the sub-directories of level 0. If level 0 has no sub-directories, the further levels are other images of the
/// file. Except in Aperio's files, these must be marked as reduced. Each further level must be made of tiles, and must
/// have the shape of level 0. `file_bytes`: the file's size. @throws NeedsOpenSlide if
/// - the file is not a TIFF;
/// - the image is not made of tiles of JPEG or JPEG 2000, 8 bits, RGB or YCbCr;
/// - the file's maker does not store the image as tiles side by side.
/// @throws Error(corrupt) for a damaged file.
/// @throws Error(unsupported) for faults that OpenSlide would not notice:
/// - the image is stored mirrored or turned;
/// - OME-XML says that the image is one plane of several;
/// - OME-XML selects an image that is not the first, and whose tiles this library can't read.
Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes);

}  // namespace penstock::slide
