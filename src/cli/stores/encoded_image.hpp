// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/transforms/decode_image.hpp>

#include "stores/pixel_memory.hpp"

namespace penstock::cli {

/// Returns the kind of image that the first bytes of a whole file show: "jpeg", "png", "gif", "bmp", "tiff", "webp",
/// "avif", "heif", "jpeg2000", "jpegxl". Returns "" if they show no kind of this list.
const char* image_kind(std::span<const std::byte> bytes) noexcept;

/// Returns a file's kind by the ending of its name, if the library has no decoder for that kind; "" otherwise.
const char* undecoded_kind(std::string_view path) noexcept;

/// Returns the options with which the tool decodes images to check or draw them. These options accept all images that
/// the library can decode, including images with 16 bits per value.
DecodeImageOptions options_for_any_image() noexcept;

/// Returns whether an image is of a known kind that the library has no decoder for. `decoding` must accept 16 bits per
/// value, as with `options_for_any_image()`. `decoding` may lose the image that it had opened.
bool lacks_decoder(ImageDecoding& decoding, std::span<const std::byte> encoded);

/// Decodes an image to its end, so that damage anywhere in it is found. @throws penstock::Error.
void decode_whole(ImageDecoding& decoding, std::span<const std::byte> encoded, PixelMemory& pixels);

}  // namespace penstock::cli
