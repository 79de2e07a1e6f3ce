// SPDX-License-Identifier: Apache-2.0
// What an ImageOp must give, said in the plainest way: a whole image a step, no tables, no vectors.
#pragma once

#include <vector>

#include <penstock/extend/image_op.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

// The resampler's integer arithmetic.
Image reference_resize(const Image& image, penstock::Size size);
// The resampler's filter in double precision, not rounded: [y][x][c].
std::vector<double> exact_resize(const Image& image, penstock::Size size);

// Each pixel is the one below the new one's centre.
Image reference_nearest(const Image& image, penstock::Size size);

Image reference_flip_horizontal(const Image& image);
Image reference_flip_vertical(const Image& image);
Image reference_rot90(const Image& image);
// `label`: the image is one of labels.
Image reference_pad(const Image& image, const penstock::Padding& padding, bool label);

// An image after any op whose result is 8 bits [H, W, C].
Image reference_run(const Image& source, const penstock::ImageOp& op);
// The executor's result for the same op, as bytes.
std::vector<std::byte> execute(const Image& source, const penstock::ImageOp& op);
Image execute_u8(const Image& source, const penstock::ImageOp& op);

}  // namespace penstock_test
