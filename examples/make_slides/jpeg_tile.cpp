#include "jpeg_tile.hpp"

#include <string>
#include <utility>

#include <stdexcept>

namespace make_slides {

namespace {

// Colours that are not turned into others share the first table of each kind, and nobody needs the second.
void forget_second_tables(jpeg_compress_struct& info) noexcept {
  info.quant_tbl_ptrs[1]->sent_table = TRUE;
  info.dc_huff_tbl_ptrs[1]->sent_table = TRUE;
  info.ac_huff_tbl_ptrs[1]->sent_table = TRUE;
}

}  // namespace

JpegTileEncoder::JpegTileEncoder(const TileForm& form) {
  info_.err = jpeg_std_error(&errors_);
  // Thrown through libjpeg's frames: they hold nothing that needs cleaning up.
  errors_.error_exit = [](j_common_ptr common) {
    char text[JMSG_LENGTH_MAX] = {};
    common->err->format_message(common, text);
    throw std::runtime_error("libjpeg can't encode a tile: " + std::string(text));
  };
  errors_.output_message = [](j_common_ptr) {};
  info_.client_data = this;
  jpeg_create_compress(&info_);
  target_.init_destination = [](j_compress_ptr info) { of(info).grow(); };
  target_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
    of(info).target_.free_in_buffer = 0;
    of(info).grow();
    return TRUE;
  };
  target_.term_destination = [](j_compress_ptr info) {
    JpegTileEncoder& self = of(info);
    self.out_.resize(self.out_.size() - self.target_.free_in_buffer);
  };
  info_.dest = &target_;
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
  info_.dct_method = JDCT_ISLOW;  // the one that gives the same bits everywhere
  if (form.rgb) forget_second_tables(info_);
}

std::vector<std::byte> JpegTileEncoder::tables() {
  jpeg_suppress_tables(&info_, FALSE);
  if (info_.jpeg_color_space == JCS_RGB) forget_second_tables(info_);
  jpeg_write_tables(&info_);
  return std::exchange(out_, {});
}

std::vector<std::byte> JpegTileEncoder::encode(const std::uint8_t* rgb) {
  jpeg_suppress_tables(&info_, TRUE);
  jpeg_start_compress(&info_, FALSE);
  while (info_.next_scanline < info_.image_height) {
    // libjpeg does not write to its input.
    auto* row = const_cast<JSAMPLE*>(rgb + std::size_t{info_.next_scanline} * info_.image_width * 3);
    jpeg_write_scanlines(&info_, &row, 1);
  }
  jpeg_finish_compress(&info_);
  return std::exchange(out_, {});
}

void JpegTileEncoder::grow() {
  const std::size_t full = out_.size(), more = full < 32768 ? 32768 : full;
  out_.resize(full + more);
  target_.next_output_byte = reinterpret_cast<JOCTET*>(out_.data() + full);
  target_.free_in_buffer = more;
}

}  // namespace make_slides
