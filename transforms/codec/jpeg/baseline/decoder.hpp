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
  bool to_end = false;                 // reads all data and checks that the image ends where it should
  const Segments* segments = nullptr;  // reads only these, all of them; not with `to_end`
  std::uint8_t* pixels = nullptr;      // gets the box: 1 value per pixel if libjpeg's output is grey, else 3
  std::ptrdiff_t stride = 0;           // bytes from one of those rows to the next
};

// If it decodes an image, libjpeg would make the same pixels without a warning. If it decodes some segments, this is
// true of a file with only these segments. It hands over to libjpeg what is, or may be, unusual or damaged. A runner
// keeps one for all its images; one thread at a time may use it.
class Decoder {
 public:
  // REQUIRES: `info` has read the header, its output is chosen, and it has not started. Returns nothing if this decoder
  // may be able to decode the image, else the reason why libjpeg must.
  std::optional<HandOver> begin(const jpeg_decompress_struct& info);

  // Decodes the image that `begin` took, whose scan begins at offset `scan` of the file. Returns nothing if the pixels
  // are made. Else returns why libjpeg must decode it, from the same state of `info`; the box's rows then have no
  // meaning. May be called any number of times.
  std::optional<HandOver> decode(std::span<const std::uint8_t> bytes, std::size_t scan, const Request& request,
                                 Scratch& scratch);

 private:
  TableCache tables_;
  ScanReader reader_;
  Frame frame_;
  bool gray_ = false;  // the output has only the first component
  std::unique_ptr<Block[]> blocks_;
};

}  // namespace penstock::jpeg::baseline
