// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/decompressor.hpp"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <cstdint>
#include <string>

#include <penstock/error.hpp>

#include "pixels/values/lzw.hpp"
#include "pixels/values/packbits.hpp"

namespace penstock::slide {

namespace {

[[noreturn]] void fail_short(std::size_t has, std::size_t wanted) {
  throw Error(Errc::corrupt, "its stream ends after " + std::to_string(has) + " bytes of pixels; its pixels have " +
                                 std::to_string(wanted));
}

[[noreturn]] void fail_memory() { throw Error(Errc::out_of_memory, "no memory to decode a tile"); }

// Inflates a stream that has more bytes than `out`, and discards the further ones. libdeflate can't do that. The stream
// is read to its end, so that its check sum is compared. It may have twice the bytes of `out`, so that the work has a
// limit.
void inflate_longer(std::span<const std::byte> encoded, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) fail_memory();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(encoded.data()));
  stream.avail_in = static_cast<uInt>(encoded.size());
  std::array<std::byte, 16384> discarded;
  std::size_t left = out.size(), further = out.size() + 1;
  int result = Z_OK;
  while (result == Z_OK && further != 0) {
    const std::span<std::byte> room =
        left != 0 ? out.last(left) : std::span(discarded).first(std::min(further, discarded.size()));
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    result = ::inflate(&stream, Z_NO_FLUSH);
    (left != 0 ? left : further) -= room.size() - stream.avail_out;
  }
  if (result == Z_MEM_ERROR) fail_memory();
  if (further == 0) throw Error(Errc::corrupt, "its deflate stream has more than twice the bytes of its pixels");
  if (result != Z_STREAM_END || left != 0) throw Error(Errc::corrupt, "its deflate stream is damaged");
}

}  // namespace

void Decompressor::Free::operator()(libdeflate_decompressor* decompressor) const noexcept {
  libdeflate_free_decompressor(decompressor);
}
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const noexcept { ZSTD_freeDCtx(context); }

void Decompressor::inflate(std::span<const std::byte> encoded, std::span<std::byte> out) {
  if (!deflate_) deflate_.reset(libdeflate_alloc_decompressor());
  if (!deflate_) fail_memory();
  std::size_t made = 0;
  switch (libdeflate_zlib_decompress(deflate_.get(), encoded.data(), encoded.size(), out.data(), out.size(), &made)) {
    case LIBDEFLATE_SUCCESS:
      if (made < out.size()) fail_short(made, out.size());
      return;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return inflate_longer(encoded, out);
    default:
      throw Error(Errc::corrupt, "its deflate stream is damaged");
  }
}

void Decompressor::run_zstd(std::span<const std::byte> encoded, std::span<std::byte> out) {
  if (!zstd_) zstd_.reset(ZSTD_createDCtx());
  if (!zstd_) fail_memory();
  const std::size_t frame = ZSTD_findFrameCompressedSize(encoded.data(), encoded.size());
  const std::size_t made = ZSTD_isError(frame) != 0
                               ? frame
                               : ZSTD_decompressDCtx(zstd_.get(), out.data(), out.size(), encoded.data(), frame);
  if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall)
    throw Error(Errc::corrupt, "its Zstandard stream has more bytes than its pixels");
  if (ZSTD_isError(made) != 0)
    throw Error(Errc::corrupt, std::string("its Zstandard stream can't be decoded: ") + ZSTD_getErrorName(made));
  if (made < out.size()) fail_short(made, out.size());
}

void Decompressor::run(SlideCodec codec, std::span<const std::byte> encoded, std::span<std::byte> out) {
  if (codec == SlideCodec::deflate) return inflate(encoded, out);
  if (codec == SlideCodec::zstd) return run_zstd(encoded, out);
  const std::size_t made = codec == SlideCodec::lzw ? decode_lzw(encoded, out) : decode_packbits(encoded, out);
  if (made < out.size()) fail_short(made, out.size());
}

}  // namespace penstock::slide
