// SPDX-License-Identifier: Apache-2.0
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
  std::int32_t side = 1024;  ///< largest length of the slide's longer side in the picture, in pixels: 64 to 8192
  bool caption = true;  ///< if true, there is text below the slide; if false, there is only the slide, for example for
                        ///< a list of many slides
};

/// An image in memory. A value type.
struct SlidePicture {
  std::int32_t width = 0, height = 0;  ///< pixels
  std::vector<std::uint8_t> rgb = {};  ///< u8 [height, width, 3]
};

/// Draws a slide for people to look at. The picture shows which places are records.
///
/// The slide is in the picture's top left corner. Each pixel of the slide in the picture is the mean of k x k pixels of
/// a stored level that can be read. This level is the coarsest one whose longer side has at least `side` pixels. If no
/// level is that large, it is the finest one. The number k is the smallest whole number for which the longer side has
/// at most `side` pixels.
///
/// - Records are bright, and each has an outline. If places are smaller than 5 pixels of the picture, records have a
///   tint instead, and the area of all records has an outline.
/// - Places that are left out are grey. They show too little tissue, `Slides::regions` leaves them out, or they are not
///   in the view (`SlideSource::only`).
/// - Parts that no place covers are grey with stripes.
/// - The edge of the tissue is drawn if `Slides::tissue` needs a mask.
/// - The edges of regions are drawn, for the classes that records may show and the classes of `SlideRegions::exclude`.
///   The files of regions are read again for this.
/// - Parts that can't be read have a colour of their own.
///
/// With `caption`, the text below the slide says
/// - what the slide is, and how it is read;
/// - which pixels and places records have;
/// - how many places were left out, and why;
/// - what the colours mean.
///
/// If the size of a pixel is known, a scale bar is drawn too. The picture is wide enough for the text, so it may be
/// wider than the slide.
///
/// Opens the slide's file again, and decodes the levels that the picture and the mask are made of, on the calling
/// thread. Drawing takes a moment if the file has coarse levels, and otherwise as long as decoding level 0. It needs
/// about 15 bytes of memory per pixel of the picture, and the memory that the mask took when the source was opened. The
/// picture doesn't refer to the source. Any thread may call `draw_slide`.
///
/// @throws Error(not_found) if the source has no such slide.
/// @throws the slide's own error (`SlideInfo::failure`), if the slide can't be read.
/// @throws Error(io) if the slide's file is not the file that was opened.
/// @throws Error(invalid_argument) if `side` is below 64 or above 8192.
/// @throws Error(limit_exceeded) if k would be more than 4096.
PENSTOCK_API SlidePicture draw_slide(const SlideSource& source, std::size_t slide,
                                     const SlidePictureOptions& options = {});

/// Writes the picture as a PNG. Replaces an existing file as a whole. Until the new file is complete, its name is
/// `path` + ".new". A file that can't be completed is removed. Any thread may call it, but only one at a time for the
/// same file.
/// @throws Error(io) that names the file; Error(not_found) if the folder does not exist.
/// @throws Error(invalid_argument) if the picture has no pixels, or if `width` and `height` don't agree with `rgb`.
PENSTOCK_API void write_png(const SlidePicture& picture, const std::string& path);

}  // namespace penstock
