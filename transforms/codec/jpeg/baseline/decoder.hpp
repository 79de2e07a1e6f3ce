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
  bool to_end = false;                 // all data is gone through, and the image must end where it says
  const Segments* segments = nullptr;  // only these are gone through, all of them; not with `to_end`
  std::uint8_t* pixels = nullptr;      // where the box goes, 1 value a pixel where libjpeg's output is grey, else 3
  std::ptrdiff_t stride = 0;           // bytes from one of those rows to the next
};

// The rule: where it decodes an image, libjpeg gives the same pixels, and no warning; of some segments, where it
// decodes a file that has only these. Whatever is unusual or damaged, or may be, is handed over to libjpeg. Kept by one
// runner for all its images; one thread at a time.
class Decoder {
 public:
  // `info` has read the header, its output is chosen and it has not started. None: the image may be for this decoder.
  std::optional<HandOver> begin(const jpeg_decompress_struct& info);

  // Decodes the image that was begun with, whose scan begins at `scan` of the file's bytes. None: the pixels are there.
  // Else why libjpeg is to decode it, from the same state of `info`; what is in the box's rows is then of no meaning.
  // Any number of times.
  std::optional<HandOver> decode(std::span<const std::uint8_t> bytes, std::size_t scan, const Request& request,
                                 Scratch& scratch);

 private:
  TableCache tables_;
  ScanReader reader_;
  Frame frame_;
  bool gray_ = false;  // only the first component comes out
  std::unique_ptr<Block[]> blocks_;
};

}  // namespace penstock::jpeg::baseline
