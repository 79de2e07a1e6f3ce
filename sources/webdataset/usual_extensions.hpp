// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace penstock::webdataset {

/// The extensions that a field of encoded images or other bytes may have, the most usual first.
inline constexpr std::array<std::string_view, 9> image_extensions{"jpg", "jpeg", "png",  "webp", "gif",
                                                                  "bmp", "tif",  "tiff", "bin"};

constexpr bool is_image(std::string_view extension) noexcept {
  return std::ranges::find(image_extensions, extension) != image_extensions.end();
}

}  // namespace penstock::webdataset
