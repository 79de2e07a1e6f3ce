// Tiles of a TIFF file as JPEG 2000 codestreams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synth/tile_form.hpp"

namespace penstock::cli {

/// side * side pixels, RGB, as a codestream. Any thread. @throws penstock::Error.
std::vector<std::byte> encode_jpeg2000_tile(const TileForm& form, const std::uint8_t* rgb);

}  // namespace penstock::cli
