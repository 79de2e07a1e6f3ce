// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/promised_image.hpp>

#include "findings.hpp"

namespace penstock::testing {

/// Checks that a promised image keeps its promises. `jpeg`: see `check_stored_jpeg`. The evidence begins with `who`.
/// @throws Error(schema_mismatch) if the image has an empty side, and whatever decoding the whole image throws.
void check_promise(PromisedImage& image, const ImageDecoder* jpeg, Findings& findings, const std::string& who);

}  // namespace penstock::testing
