// SPDX-License-Identifier: Apache-2.0
// Reads the levels of a slide that is a TIFF file.
#pragma once

#include <cstdint>
#include <string>

#include "file/pyramid.hpp"
#include "file/tiff/needs_openslide.hpp"

namespace penstock::slide {

/// Reads a file's directories. Level 0 is the file's first image, or the image that OME-XML selects. The further levels
/// are the sub-directories of level 0. If level 0 has no sub-directories, the further levels are other images of the
/// file. Except in Aperio's files, these must be marked as reduced. Each further level must be made of tiles, and must
/// have the shape of level 0. `file_bytes`: the file's size. @throws NeedsOpenSlide if
/// - the file is not a TIFF;
/// - the image is not made of tiles;
/// - the tiles are JPEG or JPEG 2000, but not of 8 bits and RGB or YCbCr;
/// - the tiles have another codec of `SlideCodec`, but not 8 or 16 bits, or their colours are not grey, RGB or a
///   palette;
/// - the tiles have another compression;
/// - the file's maker does not store the image as tiles side by side.
/// @throws Error(corrupt) for a damaged file.
/// @throws Error(unsupported) for faults that OpenSlide would not notice:
/// - the image is stored mirrored or turned;
/// - OME-XML says that the image is one plane of several;
/// - OME-XML selects an image that is not the first, and whose tiles this library can't read.
Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes);

}  // namespace penstock::slide
