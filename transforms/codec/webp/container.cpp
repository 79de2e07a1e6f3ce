// SPDX-License-Identifier: Apache-2.0
#include "container.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <webp/decode.h>

#include <penstock/error.hpp>

namespace penstock::webp {

namespace {

// The signature with the declared size, and the header of a chunk.
constexpr std::size_t signature_bytes = 12, chunk_header_bytes = 8;

std::string_view tag_at(std::span<const std::byte> bytes, std::size_t at) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

// Returns the part of the data that the file declares to be its own.
std::span<const std::byte> declared_file(std::span<const std::byte> encoded) {
  if (encoded.size() < signature_bytes)
    throw Error(Errc::corrupt, "the WebP ends inside its first 12 bytes: it is cut off").with_offset(encoded.size());
  if (tag_at(encoded, 0) != "RIFF" || tag_at(encoded, 8) != "WEBP")
    throw Error(Errc::corrupt, "the data does not begin like a WebP").with_offset(0);
  const std::uint64_t declared = std::uint64_t{little_endian(encoded, 4)} + 8;
  if (declared > encoded.size())
    throw Error(Errc::corrupt, "the WebP declares " + std::to_string(declared) + " bytes, but there are " +
                                   std::to_string(encoded.size()) + ": it is cut off")
        .with_offset(encoded.size());
  if (declared < signature_bytes + chunk_header_bytes)
    throw Error(Errc::corrupt, "the WebP declares only " + std::to_string(declared) + " bytes").with_offset(4);
  return encoded.first(static_cast<std::size_t>(declared));
}

// Checks that all chunks end inside the file. Returns the bytes of the first one with lossy pixels; 0 if there is none.
std::size_t check_chunks(std::span<const std::byte> file) {
  std::size_t lossy = 0;
  for (std::size_t at = signature_bytes; file.size() - at >= chunk_header_bytes;) {
    const std::size_t room = file.size() - at - chunk_header_bytes, bytes = little_endian(file, at + 4);
    if (bytes > room)
      throw Error(Errc::corrupt, "a chunk of the WebP declares " + std::to_string(bytes) + " bytes, but only " +
                                     std::to_string(room) + " are left")
          .with_offset(at + 4);
    if (tag_at(file, at) == "VP8 " && lossy == 0) lossy = bytes;
    // A chunk is padded to an even size. Some writers leave out the last padding.
    at += chunk_header_bytes + std::min(bytes + bytes % 2, room);
  }
  return lossy;
}

}  // namespace

Container read_container(std::span<const std::byte> encoded, std::uint64_t max_pixels) {
  Container found;
  found.file = declared_file(encoded);
  const std::size_t lossy_bytes = check_chunks(found.file);
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(reinterpret_cast<const std::uint8_t*>(found.file.data()), found.file.size(), &features) !=
          VP8_STATUS_OK ||
      features.width < 1 || features.height < 1)
    throw Error(Errc::corrupt, "the WebP has no valid header of an image").with_offset(signature_bytes);
  if (features.has_animation != 0)
    throw Error(Errc::unsupported, "the WebP is an animation, and only still images are decoded");
  found.height = features.height, found.width = features.width;
  found.alpha = features.has_alpha != 0;
  found.lossless = features.format == 2;

  const std::string size = std::to_string(found.width) + "x" + std::to_string(found.height);
  if (static_cast<std::uint64_t>(found.width) * static_cast<std::uint64_t>(found.height) > max_pixels)
    throw Error(Errc::limit_exceeded,
                "the WebP declares " + size + " pixels, above max_pixels = " + std::to_string(max_pixels));
  // The probabilities that VP8 fixes for the prediction of a block of 16 x 16 pixels cost more than one bit. This check
  // limits the memory that a small file can cause. A lossless image of one colour may have any size.
  const auto blocks = [](std::int32_t side) { return static_cast<std::uint64_t>(side + 15) / 16; };
  if (!found.lossless && blocks(found.width) * blocks(found.height) > 8 * std::uint64_t{lossy_bytes})
    throw Error(Errc::corrupt, "the WebP declares " + size + " pixels, which can't be in its " +
                                   std::to_string(lossy_bytes) + " bytes of them")
        .with_offset(signature_bytes);
  return found;
}

}  // namespace penstock::webp
