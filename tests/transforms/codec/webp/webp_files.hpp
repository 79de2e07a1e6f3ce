// SPDX-License-Identifier: Apache-2.0
// WebP files from libwebp's encoder, and their pixels from libwebp's plainest calls.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/transforms/decode_webp.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

using Bytes = std::vector<std::byte>;

// All choices.
inline constexpr penstock::WebpOptions::Color webp_colors[] = {penstock::WebpOptions::rgb, penstock::WebpOptions::gray,
                                                               penstock::WebpOptions::rgba,
                                                               penstock::WebpOptions::as_stored};

struct WebpKind {
  bool lossless = false;
  bool alpha = false;
  bool simple_filter = false;  // lossy: libwebp's simple filter of the edges of blocks
  bool extended = false;       // with a colour profile and Exif data
};
std::vector<WebpKind> webp_kinds();

// Encodes pixels of 3 or 4 channels.
Bytes webp_file(const Image& pixels, const WebpKind& kind);
// Encodes a photograph with a few shapes of opacity.
Bytes webp_file(penstock::Size size, const WebpKind& kind, std::uint64_t seed);

// The chunks of a file, after "WEBP".
using WebpChunks = std::vector<std::pair<std::string_view, Bytes>>;
WebpChunks chunks_of(const Bytes& file);
// A file of these chunks, each padded to an even size.
Bytes file_of(const WebpChunks& chunks);
// The same file as an extended one, with these chunks before the image.
Bytes extended(const Bytes& file, WebpChunks before, unsigned flags);

// What WebPDecodeRGB and WebPDecodeRGBA make of a file.
Image plainly_decoded(const Bytes& file, penstock::WebpOptions::Color color);

}  // namespace penstock_test
