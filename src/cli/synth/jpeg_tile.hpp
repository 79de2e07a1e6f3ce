// Tiles of a TIFF file as JPEG streams without their tables, which the file has once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

namespace penstock::cli {

struct JpegTileForm {
  std::int32_t side = 256;  ///< pixels, a multiple of 16
  int quality = 80;
  int subsampling = 420;  ///< 444 where colours are RGB
  /// The stream holds red, green and blue, with component ids 0, 1, 2 and no marker that says so, as Aperio's do.
  bool rgb = false;
};

/// One thread at a time. @throws penstock::Error.
class JpegTileEncoder {
 public:
  explicit JpegTileEncoder(const JpegTileForm& form);
  JpegTileEncoder(const JpegTileEncoder&) = delete;
  JpegTileEncoder& operator=(const JpegTileEncoder&) = delete;
  ~JpegTileEncoder() { jpeg_destroy_compress(&info_); }

  /// What the tiles lack: SOI, tables, EOI.
  std::vector<std::byte> tables();
  /// side * side pixels, RGB.
  std::vector<std::byte> encode(const std::uint8_t* rgb);

 private:
  static JpegTileEncoder& of(j_compress_ptr info) { return *static_cast<JpegTileEncoder*>(info->client_data); }
  void grow();

  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_destination_mgr target_{};
  std::vector<std::byte> out_;  ///< libjpeg's buffer is its last, unfinished part
};

}  // namespace penstock::cli
