// What OME-XML says of a file's images, and which of them is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

/// Pixels of an image; 0: it isn't said.
struct OmeSize {
  std::uint32_t width = 0, height = 0;
  std::uint64_t pixels() const noexcept { return std::uint64_t{width} * height; }
};

/// The image that is read: the one with most pixels, the first of several.
struct OmeImage {
  OmeSize size = {};
  std::uint32_t directory = 0;     ///< which of the file's has it, counted from 0
  std::uint32_t channels = 0;      ///< all of them are values of its pixels; 0: it isn't said
  std::string channel_names = {};  ///< for errors
  Resolution resolution = {};
  std::vector<OmeSize> others = {};  ///< other images of the file, each at least a quarter of this one
};

/// Reads the description of a file's first directory; none where it is no OME-XML. Takes time in proportion to its
/// length. @throws Error(unsupported) for z-stacks, series of times, channels that are not the colours of one image,
/// and where another file has the largest image, or the XML; Error(corrupt) for damaged XML, and for a size that is no
/// number.
std::optional<OmeImage> read_ome(const std::string& description, const std::string& path);

/// Compares the image with its directory. `size`: the directory's; `samples`: its values a pixel.
/// @throws Error(corrupt) for another size; Error(unsupported) where channels lie in directories of their own.
void check_ome(const OmeImage& image, const OmeSize& size, std::uint32_t samples, const std::string& path);

/// Which others are not read, as none of these levels is one; empty: none.
std::string unread_images(const OmeImage& image, std::span<const Level> levels);

}  // namespace penstock::slide
