// SPDX-License-Identifier: Apache-2.0
// Encodes tiles of a TIFF file as JPEG streams without tables. The file has the tables once for all tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include "tile_form.hpp"

namespace make_slides {

/// Encodes tiles. One thread at a time may use it. @throws std::runtime_error.
class JpegTileEncoder {
 public:
  explicit JpegTileEncoder(const TileForm& form);
  JpegTileEncoder(const JpegTileEncoder&) = delete;
  JpegTileEncoder& operator=(const JpegTileEncoder&) = delete;
  ~JpegTileEncoder() { jpeg_destroy_compress(&info_); }

  /// Returns the tables that the tiles lack, as SOI, tables, EOI.
  std::vector<std::byte> tables();
  /// Encodes side * side RGB pixels.
  std::vector<std::byte> encode(const std::uint8_t* rgb);

 private:
  void begin();
  std::vector<std::byte> written();

  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  unsigned char* out_ = nullptr;  ///< memory of libjpeg, until `written` is called
  unsigned long out_bytes_ = 0;
};

}  // namespace make_slides
