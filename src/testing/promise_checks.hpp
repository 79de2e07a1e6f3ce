#pragma once

#include <string>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/promised_image.hpp>

#include "findings.hpp"

namespace penstock::testing {

/// Holds an image that a source promised to what is asked of those. `jpeg`: as of `check_stored_jpeg`. `who` begins the
/// evidence. @throws what decoding all of it does.
void check_promise(PromisedImage& image, const ImageDecoder* jpeg, Findings& findings, const std::string& who);

}  // namespace penstock::testing
