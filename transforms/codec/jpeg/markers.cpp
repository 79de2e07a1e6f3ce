// SPDX-License-Identifier: Apache-2.0
#include "markers.hpp"

#include "marker_search.hpp"

namespace penstock::jpeg {

namespace {

constexpr std::uint8_t escape = 0xff;

}  // namespace

std::optional<Marker> next_marker(std::span<const std::uint8_t> bytes, std::size_t at) {
  for (;;) {
    const std::size_t begin = find_marker(bytes, at);
    at = begin;
    while (at < bytes.size() && bytes[at] == escape) ++at;
    if (at == bytes.size()) return std::nullopt;
    if (bytes[at] != 0) return Marker{begin, at + 1, bytes[at]};
  }
}

std::optional<Marker> header_marker(std::span<const std::uint8_t> bytes, std::size_t at) {
  Marker marker{.begin = at};
  while (at < bytes.size() && bytes[at] == escape) ++at;
  if (at == marker.begin || bytes.size() - at < 3) return std::nullopt;
  marker.code = bytes[at];
  // FF 01, restart markers, and the start and end of an image have no length.
  if (marker.code <= 1 || (marker.code >= restart_0 && marker.code <= end_of_image)) return std::nullopt;
  const std::size_t length = std::size_t{bytes[at + 1]} << 8 | bytes[at + 2];
  if (length < 2 || length > bytes.size() - at - 1) return std::nullopt;
  marker.end = at + 1 + length;
  return marker;
}

}  // namespace penstock::jpeg
