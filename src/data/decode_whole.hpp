#pragma once

#include <cstddef>

#include <penstock/extend/promised_image.hpp>

namespace penstock::detail {

/// All pixels of an image of that shape, in contiguous rows at `out`. @throws what decoding it does.
void decode_whole(EncodedImage& image, const ImageShape& shape, bool verify, std::byte* out, Scratch& scratch);

}  // namespace penstock::detail
