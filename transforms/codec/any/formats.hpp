// SPDX-License-Identifier: Apache-2.0
// Formats of images, and their decoders with the options of decode_image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/transforms/decode_image.hpp>

namespace penstock::codecs {

enum class Format : std::uint8_t { jpeg, png, webp, tiff };
inline constexpr std::size_t formats = 4;

// By format. A pointer is null if this build lacks the component, or if the format can't have what the options ask for.
using Decoders = std::array<std::shared_ptr<const ImageDecoder>, formats>;
Decoders decoders_for(const DecodeImageOptions& options);

// Returns the format that the first bytes show. Compares only the beginning of a signature. The decoder checks all of
// it, and its error for a damaged signature says more than "unknown". @throws Error(corrupt) if there are no bytes,
// Error(unsupported) if no decoder can exist for them.
Format format_of(std::string_view data);

// Says why there is no decoder of this format, and what to do.
std::string why_not(Format format, const DecodeImageOptions& options);

}  // namespace penstock::codecs
