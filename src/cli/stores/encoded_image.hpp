#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/transforms/decode_image.hpp>

#include "stores/pixel_memory.hpp"

namespace penstock::cli {

/// What a file begins with: "jpeg", "png", "gif", "bmp", "tiff", "webp", "avif", "heif", "jpeg2000", "jpegxl", or ""
/// for none of these.
const char* image_kind(std::span<const std::byte> bytes) noexcept;

/// What a file is by the ending of its name, where the library has no decoder for that kind; "" for all others.
const char* undecoded_kind(std::string_view path) noexcept;

/// How the tool decodes what it only looks at: everything that the library can decode, 16 bits a value too.
DecodeImageOptions any_image() noexcept;

/// True where an image is of a known kind for which the library has no decoder. `decoding` is of `any_image()`; what
/// it had opened is forgotten.
bool lacks_decoder(ImageDecoding& decoding, std::span<const std::byte> encoded);

/// Decodes an image to its end, so that damage anywhere is met. @throws penstock::Error.
void decode_whole(ImageDecoding& decoding, std::span<const std::byte> encoded, PixelMemory& pixels);

}  // namespace penstock::cli
