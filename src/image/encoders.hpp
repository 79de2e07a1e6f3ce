// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/dtype.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock::detail {

/// Returns which images an encoder takes, such as "u8 images of 1 or 3 channels".
std::string images_taken(const ImageEncoder& encoder);
/// Returns whether the encoder takes images of `element` with `channels` channels. If `channels` is `dynamic`, returns
/// whether it takes images of `element` with at least one number of channels.
bool takes_some(const ImageEncoder& encoder, DType element, std::int64_t channels);
/// Checks an image. @throws Error(unsupported) if the encoder does not take it.
void require_taken(const ImageEncoder& encoder, const ImageShape& shape);

}  // namespace penstock::detail
