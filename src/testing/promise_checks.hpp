#pragma once

#include <string>

#include <penstock/extend/promised_image.hpp>

#include "findings.hpp"

namespace penstock::testing {

/// Holds an image that a source promised to what is asked of those. `who` begins the evidence. @throws what decoding
/// all of it does.
void check_promise(PromisedImage& image, Findings& findings, const std::string& who);

}  // namespace penstock::testing
