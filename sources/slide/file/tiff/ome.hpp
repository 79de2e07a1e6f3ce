// SPDX-License-Identifier: Apache-2.0
// Reads from OME-XML which images a file has, and chooses the image to read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

/// Size of an image in pixels; 0: not given.
struct OmeSize {
  std::uint32_t width = 0, height = 0;
  std::uint64_t pixels() const noexcept { return std::uint64_t{width} * height; }
};

/// The image to read. It is the first of the images with the most pixels.
struct OmeImage {
  OmeSize size = {};
  std::uint32_t directory = 0;     ///< the number of its directory in the file, counted from 0
  std::uint32_t channels = 0;      ///< number of channels; each must be one of the values of a pixel; 0: not given
  std::string channel_names = {};  ///< names of the channels, for errors
  Resolution resolution = {};
  std::vector<OmeSize> others = {};  ///< other images of the file with at least a quarter of this image's pixels
};

/// Reads the description of a file's first directory. Returns none if it is not OME-XML. Takes time
/// proportional to the description's length.
/// @throws Error(unsupported) if
/// - the image is a z-stack or a time series, or has channels that are not the colours of one image;
/// - the largest image, or the XML, is in another file.
/// @throws Error(corrupt) if the XML is damaged, or an attribute like SizeX is not a possible number.
std::optional<OmeImage> read_ome(const std::string& description, const std::string& path);

/// Compares the image with its directory. `size`: the size of the directory's image. `samples`: the number of values
/// per pixel in the directory. @throws Error(corrupt) if the size differs; Error(unsupported) if the image has more
/// than `samples` channels. Some channels are then in other directories.
void check_ome(const OmeImage& image, const OmeSize& size, std::uint32_t samples, const std::string& path);

/// Describes the images in `image.others` that are not read, because no level of `levels` has their size. Returns an
/// empty text if all of these images are read.
std::string unread_images(const OmeImage& image, std::span<const Level> levels);

}  // namespace penstock::slide
