// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/packbits.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::slide {

std::size_t decode_packbits(std::span<const std::byte> encoded, std::span<std::byte> out) noexcept {
  std::size_t at = 0, done = 0;
  while (at < encoded.size() && done < out.size()) {
    const auto head = std::to_integer<std::size_t>(encoded[at++]);
    constexpr std::size_t nothing = 128;
    const std::size_t room = out.size() - done, left = encoded.size() - at;
    if (head < nothing) {
      const std::size_t bytes = std::min({head + 1, room, left});
      std::memcpy(out.data() + done, encoded.data() + at, bytes);
      at += bytes;
      done += bytes;
    } else if (head > nothing && left != 0) {
      const std::size_t bytes = std::min(257 - head, room);
      std::memset(out.data() + done, std::to_integer<int>(encoded[at++]), bytes);
      done += bytes;
    }
  }
  return done;
}

}  // namespace penstock::slide
