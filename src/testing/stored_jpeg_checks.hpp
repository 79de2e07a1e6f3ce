#pragma once

#include <string>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/promised_image.hpp>

#include "findings.hpp"

namespace penstock::testing {

/// Holds what an image gives as its stored JPEG to what is asked of that. `whole`: all its pixels. `jpeg`: decode_jpeg
/// with default options; null: what is stored is not decoded. `who` begins the evidence.
void check_stored_jpeg(EncodedImage& image, const Pixels& whole, const ImageDecoder* jpeg, Findings& findings,
                       const std::string& who);

/// "12 x 10 x 3, u8"
std::string text_of(const ImageShape& shape);

/// Whether images agree in all pixels, or each channel of `a` does with the only one of `b`.
bool same_pixels(const Pixels& a, const Pixels& b);

}  // namespace penstock::testing
