// SPDX-License-Identifier: Apache-2.0
// Encodes tiles of a TIFF file as JPEG 2000 codestreams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tile_form.hpp"

namespace make_slides {

/// Encodes side * side RGB pixels as a codestream. Any thread may call it. @throws std::runtime_error.
std::vector<std::byte> encode_jpeg2000_tile(const TileForm& form, const std::uint8_t* rgb);

}  // namespace make_slides
