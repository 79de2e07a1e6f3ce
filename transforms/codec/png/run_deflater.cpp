// SPDX-License-Identifier: Apache-2.0
#include "run_deflater.hpp"

#include <penstock/error.hpp>

namespace penstock::png {

// zlib calls this only in the constructor, through frames that hold nothing that needs cleaning up.
void* RunDeflater::on_allocate(void* scratch, unsigned items, unsigned bytes) {
  return static_cast<Scratch*>(scratch)->allocate(std::size_t{items} * bytes);
}

RunDeflater::RunDeflater(Scratch& scratch, std::span<std::byte> room) : room_(room) {
  stream_.zalloc = on_allocate;
  stream_.zfree = [](void*, void*) {};
  stream_.opaque = &scratch;
  constexpr int level = 6, window_bits = 15, memory_level = 8;  // zlib's defaults
  if (deflateInit2(&stream_, level, Z_DEFLATED, window_bits, memory_level, Z_RLE) != Z_OK)
    throw Error(Errc::out_of_memory, "no memory for a PNG encoder");
  begin_piece();
}

bool RunDeflater::step(bool end) {
  if (stream_.avail_in == 0 && !end) return false;
  const int status = deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
  if (status == Z_OK && stream_.avail_out == 0) return true;
  if (status != (end ? Z_STREAM_END : Z_OK) || stream_.avail_in != 0)
    throw Error(Errc::unsupported, "zlib could not deflate the image");
  return false;
}

void RunDeflater::begin_piece() {
  stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
  stream_.avail_out = static_cast<uInt>(room_.size());
}

void RunDeflater::begin_stream() {
  deflateReset(&stream_);
  begin_piece();
}

}  // namespace penstock::png
