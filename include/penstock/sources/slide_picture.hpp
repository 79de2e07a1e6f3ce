#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock {

/// How a slide is drawn.
struct SlidePictureOptions {
  std::int32_t side = 1024;  ///< pixels of the slide's longer side in the picture, at most: 64 to 8192
  bool caption = true;       ///< text below the slide; false: nothing but the slide, as for a list of many
};

/// An image in memory. A value.
struct SlidePicture {
  std::int32_t width = 0, height = 0;  ///< pixels
  std::vector<std::uint8_t> rgb = {};  ///< u8 [height, width, 3]
};

/// Draws which places of a slide are records, for people to look at.
///
/// The slide stands in the picture's top left corner, in small: the mean of each k x k pixels of the coarsest stored
/// level whose longer side has `side` pixels at least, or of the finest level where none has; k is the least whole
/// number for which the longer side has `side` pixels at most. Records are bright, and each has an outline; where
/// places have less than 5 pixels of the picture, records have a tint, and an outline around all of them. Places that
/// are left out, as they show too little tissue or lie where `Slides::regions` wants none, are grey, and what no place
/// covers is grey with stripes. The edge of the tissue is drawn where `Slides::tissue` wants a mask, and the edges of
/// the classes of regions, which are read anew. What can't be read has a colour of its own.
///
/// Below it stands, with `caption`, what the slide is, how it is read, which pixels and places records have, how many
/// places were left out and why, what the colours mean, and a scale where the size of a pixel is known. The picture is
/// wide enough for this text, so it may be wider than the slide in it.
///
/// Opens the slide's file anew, and decodes the levels of which the slide in small and the mask are made, on the
/// calling thread: that takes a moment where the file has low levels, and as long as decoding level 0 where it has no
/// other. Memory is some 15 bytes a pixel of the picture, and what the mask took when the source was opened. The
/// picture doesn't refer to the source. Any thread.
///
/// @throws Error(not_found) where the source has no such slide; the slide's own error (`SlideInfo::failure`) where it
/// can't be read; Error(io) where its file is another than the one that was opened; Error(invalid_argument) for another
/// `side`; Error(limit_exceeded) where k would be more than 4096.
PENSTOCK_API SlidePicture draw_slide(const SlideSource& source, std::size_t slide,
                                     const SlidePictureOptions& options = {});

/// Writes the picture as a PNG. A file of that name is replaced as a whole: until it is complete it is called
/// `path` + ".new", and where it can't be completed that one is removed. Any thread, for different files.
/// @throws Error(io), and Error(not_found) where there is no such folder, which name the file; Error(invalid_argument)
/// for a picture without pixels, or with another number of them than it says.
PENSTOCK_API void write_png(const SlidePicture& picture, const std::string& path);

}  // namespace penstock
