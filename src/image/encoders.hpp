#pragma once

#include <cstdint>
#include <string>

#include <penstock/dtype.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock::detail {

/// "u8 images of 1 or 3 channels"
std::string images_taken(const ImageEncoder& encoder);
/// Whether it takes any image with so many channels, or, where these are not known (`dynamic`), with some.
bool takes_some(const ImageEncoder& encoder, DType element, std::int64_t channels);
/// @throws Error(unsupported) for an image that it does not take.
void require_taken(const ImageEncoder& encoder, const ImageShape& shape);

}  // namespace penstock::detail
