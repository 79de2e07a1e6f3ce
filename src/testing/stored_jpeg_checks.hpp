// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/promised_image.hpp>

#include "findings.hpp"

namespace penstock::testing {

/// Checks that an image's stored JPEG keeps its promises. `whole`: the pixels of the whole image. `jpeg`: the decoder
/// of decode_jpeg with default options; null: the stored JPEG is not decoded. The evidence begins with `who`.
void check_stored_jpeg(EncodedImage& image, const Pixels& whole, const ImageDecoder* jpeg, Findings& findings,
                       const std::string& who);

/// Describes a shape, for example as "12 x 10 x 3, u8".
std::string text_of(const ImageShape& shape);

/// Returns whether all pixels of two images are equal. If `b` has a single channel, each channel of `a` must equal it.
bool same_pixels(const Pixels& a, const Pixels& b);

}  // namespace penstock::testing
