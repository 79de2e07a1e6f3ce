// How a camera was held, as Exif tells it.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <penstock/extend/image_op.hpp>

namespace penstock::jpeg {

// 1 to 8, from the first Exif segment among the saved markers; 1, upright, where there is none, or no sense in it.
int orientation(const jpeg_decompress_struct& info);

// Adds the turns and flips that set the image upright.
void set_upright(ImageOp& op, int orientation);

}  // namespace penstock::jpeg
