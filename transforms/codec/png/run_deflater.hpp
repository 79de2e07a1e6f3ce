// SPDX-License-Identifier: Apache-2.0
// Deflates by zlib, which looks only for runs of equal bytes. Filtered photographs become smaller than with longer
// searches, as their short matches cost more bits than their literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <zlib.h>

#include <penstock/extend/image_executor.hpp>

namespace penstock::png {

// zlib's memory is in `scratch`, so nothing frees it here.
class RunDeflater {
 public:
  // The streams are made piece by piece in `room`. `scratch` and `room` must outlive the deflater.
  // @throws Error(out_of_memory).
  RunDeflater(Scratch& scratch, std::span<std::byte> room);
  RunDeflater(const RunDeflater&) = delete;
  RunDeflater& operator=(const RunDeflater&) = delete;

  // Appends bytes to the stream. Calls `take` with each full piece, and with the last one if `last` is true. Then the
  // next call begins another stream. `take` may throw; then the deflater can't be used any longer.
  template <class Take>
  void add(std::span<const std::uint8_t> bytes, bool last, const Take& take) {
    do {
      const auto part = bytes.first(bytes.size() < most ? bytes.size() : most);
      bytes = bytes.subspan(part.size());
      stream_.next_in = const_cast<Bytef*>(part.data());  // zlib does not write to its input
      stream_.avail_in = static_cast<uInt>(part.size());
      const bool end = last && bytes.empty();
      while (step(end)) {
        take(made());
        begin_piece();
      }
    } while (!bytes.empty());
    if (!last) return;
    if (!made().empty()) take(made());
    begin_stream();
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  static void* on_allocate(void* scratch, unsigned items, unsigned bytes);

  // Deflates what is there. Returns whether the piece is full and more may come.
  bool step(bool end);
  void begin_piece();
  void begin_stream();
  std::span<const std::byte> made() const { return room_.first(room_.size() - stream_.avail_out); }

  std::span<std::byte> room_;
  z_stream stream_{};
};

}  // namespace penstock::png
