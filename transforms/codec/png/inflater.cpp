// SPDX-License-Identifier: Apache-2.0
#include "inflater.hpp"

#include <cstdint>
#include <cstring>

#include <penstock/error.hpp>

namespace penstock::png {

namespace {

// Returns whether zlib's window, of the size that the stream's first byte declares, reaches all bytes before each one.
// zlib refuses a distance that leaves its window. libdeflate ignores the declared size.
bool window_reaches_all(std::byte first, std::size_t bytes) {
  const unsigned bits = std::to_integer<unsigned>(first) >> 4;
  constexpr unsigned largest = 7;  // 32 KiB, the largest distance that deflate has
  return bits == largest || (bits < largest && bytes <= (std::size_t{256} << bits));
}

}  // namespace

bool Inflater::inflate(std::span<const std::byte> encoded, const Header& header, std::byte* joined, std::byte* to,
                       std::size_t bytes) {
  if (!decompressor_) {
    decompressor_.reset(libdeflate_alloc_decompressor());
    if (!decompressor_) throw Error(Errc::out_of_memory, "no memory for a PNG decoder");
  }
  std::span<const std::byte> stream = first_pixels(encoded, header);
  if (joined_bytes(header) > 0) {
    join_pixels(encoded, header, joined);
    stream = {joined, static_cast<std::size_t>(header.bytes)};
  }
  if (!window_reaches_all(stream[0], bytes)) return false;
  std::size_t read = 0, made = 0;
  // The lengths are asked for, because a stream may end before its chunks do.
  const libdeflate_result result =
      libdeflate_zlib_decompress_ex(decompressor_.get(), stream.data(), stream.size(), to, bytes, &read, &made);
  return result == LIBDEFLATE_SUCCESS && read == stream.size() && made == bytes;
}

}  // namespace penstock::png
