// SPDX-License-Identifier: Apache-2.0
#include "webp_size.hpp"

#include <cstdint>
#include <string_view>

namespace penstock::tiff {

Size webp_size(std::span<const std::byte> webp) {
  // The signature, the header of the first chunk, and as much of the chunk as is needed.
  if (webp.size() < 30) return {};
  const std::string_view text(reinterpret_cast<const char*>(webp.data()), webp.size());
  if (!text.starts_with("RIFF") || text.substr(8, 4) != "WEBP") return {};
  const auto number = [&](std::size_t at, unsigned bytes) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::to_integer<std::uint32_t>(webp[at + i]) << (8 * i);
    return value;
  };
  const auto size = [](std::uint32_t height, std::uint32_t width) {
    return Size{static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
  };
  const std::string_view kind = text.substr(12, 4);
  if (kind == "VP8X") return size(number(27, 3) + 1, number(24, 3) + 1);
  if (kind == "VP8L") {
    const std::uint32_t sides = number(21, 4);
    return size((sides >> 14 & 0x3fff) + 1, (sides & 0x3fff) + 1);
  }
  if (kind == "VP8 ") return size(number(28, 2) & 0x3fff, number(26, 2) & 0x3fff);
  return {};
}

}  // namespace penstock::tiff
