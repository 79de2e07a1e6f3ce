// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/extend/promised_image.hpp>

namespace penstock::detail {

/// Decodes all pixels of `image`, whose shape is `shape`, into contiguous rows of pixels at `out`. `verify`: whether to
/// check all data of the image. @throws what `image.decode` throws.
void decode_whole(EncodedImage& image, const ImageShape& shape, bool verify, std::byte* out, Scratch& scratch);

}  // namespace penstock::detail
