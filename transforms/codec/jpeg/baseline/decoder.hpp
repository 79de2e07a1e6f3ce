// SPDX-License-Identifier: Apache-2.0
// Decodes a part of a baseline JPEG, with libjpeg's pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "../segments.hpp"
#include "block_decoding.hpp"
#include "frame.hpp"
#include "hand_over.hpp"
#include "scan_reader.hpp"
#include "table_cache.hpp"

namespace penstock::jpeg::baseline {

struct Request {
  Box box;                             // inside the image
  bool to_end = false;                 // if true, reads all data and checks that the image ends where it should
  const Segments* segments = nullptr;  // if not null, reads exactly these segments; not with `to_end`
  std::uint8_t* pixels = nullptr;      // receives the box: 1 value per pixel if libjpeg's output is grey, else 3
  std::ptrdiff_t stride = 0;           // bytes from one row of `pixels` to the next
};

// Decodes an image only if libjpeg would make the same pixels without a warning. If the request has segments, the
// pixels are those that libjpeg would make from a file that has only these segments. Leaves to libjpeg each image that
// is, or may be, unusual or damaged. A runner keeps one Decoder for all its images; only one thread may use it at a
// time.
class Decoder {
 public:
  // REQUIRES: libjpeg has read the header into `info`, the colours of its output are set, and libjpeg has not started
  // to decode. Returns nothing if this decoder may be able to decode the image. Otherwise returns the reason why
  // libjpeg must decode it.
  std::optional<HandOverReason> begin(const jpeg_decompress_struct& info);

  // Decodes the image that `begin` took, whose scan begins at offset `scan` of the file. Returns nothing if all
  // pixels of the request were made. Otherwise returns the reason why libjpeg must decode the image; the pixels that
  // were written have no meaning then. Does not change the `info` of `begin`. May be called any number of times.
  std::optional<HandOverReason> decode(std::span<const std::uint8_t> bytes, std::size_t scan, const Request& request,
                                       Scratch& scratch);

 private:
  TableCache tables_;
  ScanReader reader_;
  Frame frame_;
  bool gray_ = false;  // the output has only the first component
  std::unique_ptr<Block[]> blocks_;
};

}  // namespace penstock::jpeg::baseline
