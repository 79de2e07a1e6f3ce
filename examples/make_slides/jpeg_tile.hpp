// SPDX-License-Identifier: Apache-2.0
// Tiles of a TIFF file as JPEG streams without their tables, which the file has once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include "tile_form.hpp"

namespace make_slides {

/// One thread at a time. @throws std::runtime_error.
class JpegTileEncoder {
 public:
  explicit JpegTileEncoder(const TileForm& form);
  JpegTileEncoder(const JpegTileEncoder&) = delete;
  JpegTileEncoder& operator=(const JpegTileEncoder&) = delete;
  ~JpegTileEncoder() { jpeg_destroy_compress(&info_); }

  /// What the tiles lack: SOI, tables, EOI.
  std::vector<std::byte> tables();
  /// side * side pixels, RGB.
  std::vector<std::byte> encode(const std::uint8_t* rgb);

 private:
  void begin();
  std::vector<std::byte> written();

  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  unsigned char* out_ = nullptr;  ///< libjpeg's memory, until `written`
  unsigned long out_bytes_ = 0;
};

}  // namespace make_slides
