// SPDX-License-Identifier: Apache-2.0
#include "jpeg_tile.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace make_slides {

namespace {

// Leaves out the second table of each kind. RGB components all use the first table.
void forget_second_tables(jpeg_compress_struct& info) noexcept {
  info.quant_tbl_ptrs[1]->sent_table = TRUE;
  info.dc_huff_tbl_ptrs[1]->sent_table = TRUE;
  info.ac_huff_tbl_ptrs[1]->sent_table = TRUE;
}

}  // namespace

JpegTileEncoder::JpegTileEncoder(const TileForm& form) {
  info_.err = jpeg_std_error(&errors_);
  // The exception passes through libjpeg's functions, which have nothing to clean up.
  errors_.error_exit = [](j_common_ptr common) {
    char text[JMSG_LENGTH_MAX] = {};
    common->err->format_message(common, text);
    throw std::runtime_error("libjpeg can't encode a tile: " + std::string(text));
  };
  errors_.output_message = [](j_common_ptr) {};
  jpeg_create_compress(&info_);
  info_.image_width = info_.image_height = static_cast<JDIMENSION>(form.side);
  info_.input_components = 3;
  info_.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info_);
  jpeg_set_quality(&info_, form.quality, TRUE);
  jpeg_set_colorspace(&info_, form.rgb ? JCS_RGB : JCS_YCbCr);
  if (form.rgb)
    for (int i = 0; i < 3; ++i) info_.comp_info[i].component_id = i;
  info_.comp_info[0].h_samp_factor = form.subsampling == 444 ? 1 : 2;
  info_.comp_info[0].v_samp_factor = form.subsampling == 420 ? 2 : 1;
  info_.write_JFIF_header = FALSE;
  info_.write_Adobe_marker = FALSE;
  info_.dct_method = JDCT_ISLOW;  // gives the same bits on every machine
  if (form.rgb) forget_second_tables(info_);
}

std::vector<std::byte> JpegTileEncoder::tables() {
  begin();
  jpeg_suppress_tables(&info_, FALSE);
  if (info_.jpeg_color_space == JCS_RGB) forget_second_tables(info_);
  jpeg_write_tables(&info_);
  return written();
}

std::vector<std::byte> JpegTileEncoder::encode(const std::uint8_t* rgb) {
  begin();
  jpeg_suppress_tables(&info_, TRUE);
  jpeg_start_compress(&info_, FALSE);
  while (info_.next_scanline < info_.image_height) {
    // The cast is safe, because libjpeg does not write to its input.
    auto* row = const_cast<JSAMPLE*>(rgb + std::size_t{info_.next_scanline} * info_.image_width * 3);
    jpeg_write_scanlines(&info_, &row, 1);
  }
  jpeg_finish_compress(&info_);
  return written();
}

void JpegTileEncoder::begin() {
  out_ = nullptr;
  jpeg_mem_dest(&info_, &out_, &out_bytes_);
}

std::vector<std::byte> JpegTileEncoder::written() {
  const auto* const first = reinterpret_cast<const std::byte*>(out_);
  std::vector<std::byte> bytes(first, first + out_bytes_);
  std::free(out_);
  return bytes;
}

}  // namespace make_slides
