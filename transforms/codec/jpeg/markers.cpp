#include "markers.hpp"

#include <cstring>

namespace penstock::jpeg {

namespace {

constexpr std::uint8_t escape = 0xff;

// The first FF from `at` on that no 0 follows. Compiles to a few vector instructions for each 64 bytes: a search that
// stops at every FF would stop at those that are data, too, one in two hundred.
std::size_t find_candidate(std::span<const std::uint8_t> bytes, std::size_t at) {
  constexpr std::size_t block = 64;
  const std::uint8_t* const data = bytes.data();
  while (bytes.size() - at > block) {
    std::uint8_t any = 0;
    for (std::size_t k = 0; k < block; ++k)
      any |= static_cast<std::uint8_t>((data[at + k] == escape) & (data[at + k + 1] != 0));
    if (any != 0) break;
    at += block;
  }
  while (at < bytes.size()) {
    const void* const found = std::memchr(data + at, escape, bytes.size() - at);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - data);
    if (at + 1 == bytes.size() || data[at + 1] != 0) return at;
    at += 2;
  }
  return bytes.size();
}

}  // namespace

std::optional<Marker> next_marker(std::span<const std::uint8_t> bytes, std::size_t at) {
  for (;;) {
    const std::size_t begin = find_candidate(bytes, at);
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
  // FF 01 has no length, as those of restarts.
  if (marker.code <= 1 || (marker.code >= restart_0 && marker.code <= end_of_image)) return std::nullopt;
  const std::size_t length = std::size_t{bytes[at + 1]} << 8 | bytes[at + 2];
  if (length < 2 || length > bytes.size() - at - 1) return std::nullopt;
  marker.end = at + 1 + length;
  return marker;
}

}  // namespace penstock::jpeg
