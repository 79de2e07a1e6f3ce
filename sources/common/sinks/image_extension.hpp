// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace penstock::common {

/// The possible results of `image_extension`.
inline constexpr std::array<std::string_view, 7> image_extensions{"jpg", "png", "webp", "gif", "bmp", "tif", "bin"};

/// Returns the usual extension of an encoded image, judging by its first bytes. Returns "bin" for any other data.
inline std::string_view image_extension(std::span<const std::byte> bytes) noexcept {
  using namespace std::string_view_literals;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 12));
  if (head.starts_with("\xff\xd8\xff")) return "jpg";
  if (head.starts_with("\x89PNG\r\n\x1a\n")) return "png";
  if (head.starts_with("RIFF") && head.ends_with("WEBP")) return "webp";
  if (head.starts_with("GIF8")) return "gif";
  if (head.starts_with("BM") && head.size() > 9 && head.substr(6, 4) == "\0\0\0\0"sv) return "bmp";
  return head.starts_with("II*\0"sv) || head.starts_with("MM\0*"sv) ? "tif" : "bin";
}

}  // namespace penstock::common
