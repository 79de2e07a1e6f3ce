// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/jpeg/plain_jpeg.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <jpeglib.h>

namespace penstock_test {

namespace {

[[noreturn]] void fail(j_common_ptr common) {
  char text[JMSG_LENGTH_MAX] = {};
  common->err->format_message(common, text);
  throw std::runtime_error(text);
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes, bool warned = false) {
    info.err = jpeg_std_error(&errors_);
    errors_.error_exit = fail;
    be_strict();
    if (warned) errors_.emit_message = [](j_common_ptr, int) {};
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&info); }
  void be_strict() {
    errors_.emit_message = [](j_common_ptr common, int level) {
      if (level < 0) fail(common);
    };
  }
  jpeg_decompress_struct info{};

 private:
  jpeg_error_mgr errors_{};
};

void set_colors(jpeg_compress_struct& info, const PlainJpeg& options) {
  if (options.colors == PlainJpeg::rgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (options.colors == PlainJpeg::cmyk) jpeg_set_colorspace(&info, JCS_YCCK);
  if (options.colors == PlainJpeg::inks) jpeg_set_colorspace(&info, JCS_CMYK);
  for (int c = 0; c < info.num_components; ++c) {
    const std::array<int, 2>& factors = c % 3 == 0 ? options.luma : options.chroma;  // black is sampled as the first is
    info.comp_info[c].h_samp_factor = factors[0];
    info.comp_info[c].v_samp_factor = factors[1];
  }
  if (options.tables_of_each) {
    unsigned steps[DCTSIZE2];
    for (unsigned i = 0; i < DCTSIZE2; ++i) steps[i] = 3 + i;
    jpeg_add_quant_table(&info, 2, steps, jpeg_quality_scaling(options.quality), TRUE);
    // Tables that are made for the file may have numbers of their own.
    info.comp_info[2].quant_tbl_no = 2;
    info.comp_info[2].dc_tbl_no = options.optimized ? 2 : 0;
    info.comp_info[2].ac_tbl_no = options.optimized ? 3 : 0;
  }
  info.write_JFIF_header = options.jfif;
  info.write_Adobe_marker = options.adobe;
}

}  // namespace

Bytes plain_encode(const Image& image, const PlainJpeg& options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = fail;
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &buffer, &size);
  const int channels = image.shape.channels;
  info.image_width = static_cast<JDIMENSION>(image.shape.width);
  info.image_height = static_cast<JDIMENSION>(image.shape.height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  set_colors(info, options);
  info.restart_interval = static_cast<unsigned>(options.restart_interval);
  info.arith_code = options.arithmetic;
  info.optimize_coding = options.optimized;
  std::vector<jpeg_scan_info> scans;
  for (int c = 0; options.one_scan_each && c < channels; ++c)
    scans.push_back({.comps_in_scan = 1, .component_index = {c}, .Ss = 0, .Se = DCTSIZE2 - 1, .Ah = 0, .Al = 0});
  if (!scans.empty()) {
    info.scan_info = scans.data();
    info.num_scans = static_cast<int>(scans.size());
  }
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (const auto& [code, text] : options.markers)
    jpeg_write_marker(&info, code, reinterpret_cast<const JOCTET*>(text.data()), static_cast<unsigned>(text.size()));
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPLE*>(image.pixels.data() + std::size_t{info.next_scanline} * info.image_width *
                                                               static_cast<std::size_t>(channels));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* first = reinterpret_cast<const std::byte*>(buffer);
  Bytes out(first, first + size);
  std::free(buffer);
  return out;
}

Image plain_decode(std::span<const std::byte> bytes, bool gray, bool warned) {
  Decoder decoder(bytes, warned);
  jpeg_decompress_struct& info = decoder.info;
  jpeg_read_header(&info, TRUE);
  if (info.num_components != 4) info.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  Image image({static_cast<std::int32_t>(info.output_height), static_cast<std::int32_t>(info.output_width),
               info.output_components});
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + std::size_t{info.output_scanline} * info.output_width *
                                             static_cast<std::size_t>(info.output_components);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return image;
}

Image plain_crop(std::span<const std::byte> bytes, const penstock::Box& box, bool gray, bool to_end, int denominator) {
  Decoder decoder(bytes, true);
  jpeg_decompress_struct& info = decoder.info;
  jpeg_read_header(&info, TRUE);
  decoder.be_strict();
  info.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(denominator);
  jpeg_start_decompress(&info);
  // Smooth upsampling looks at its neighbours.
  constexpr std::int32_t margin = 2;
  const auto whole = static_cast<std::int32_t>(info.output_width);
  const std::int32_t from = std::max(0, box.left - margin), to = std::min(whole, box.left + box.width + margin);
  JDIMENSION left = 0;
  if (to - from < whole && denominator == 1) {
    left = static_cast<JDIMENSION>(from);
    auto width = static_cast<JDIMENSION>(to - from);
    jpeg_crop_scanline(&info, &left, &width);
  }
  if (box.top > 0 && denominator == 1) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(box.top));
  const auto channels = static_cast<std::size_t>(info.output_components);
  std::vector<JSAMPLE> row(info.output_width * channels);
  for (JSAMPROW above = row.data(); info.output_scanline < static_cast<JDIMENSION>(box.top);)
    jpeg_read_scanlines(&info, &above, 1);
  Image image({box.height, box.width, info.output_components});
  for (std::int32_t y = 0; y < box.height; ++y) {
    JSAMPROW at = row.data();
    jpeg_read_scanlines(&info, &at, 1);
    const std::size_t bytes_wide = static_cast<std::size_t>(box.width) * channels;
    std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(box.left) - left) *
                                  static_cast<std::ptrdiff_t>(channels),
                bytes_wide,
                image.pixels.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(y) * bytes_wide));
  }
  if (to_end) {
    JSAMPROW at = row.data();
    while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, &at, 1);
    jpeg_finish_decompress(&info);
  } else {
    jpeg_abort_decompress(&info);
  }
  return image;
}

std::vector<std::int16_t> coefficients(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  jpeg_decompress_struct& info = decoder.info;
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&info);
  std::vector<std::int16_t> out;
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    for (const UINT16 step : component.quant_table->quantval) out.push_back(static_cast<std::int16_t>(step));
    for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
      JBLOCKARRAY row = (*info.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&info), arrays[c], y, 1, FALSE);
      for (JDIMENSION x = 0; x < component.width_in_blocks; ++x) out.insert(out.end(), row[0][x], row[0][x] + DCTSIZE2);
    }
  }
  jpeg_finish_decompress(&info);
  return out;
}

std::size_t after_marker(std::span<const std::byte> bytes, int code) {
  for (std::size_t i = 2; i + 3 < bytes.size();) {
    if (std::to_integer<int>(bytes[i + 1]) == code) return i + 2;
    i += 2 + (std::to_integer<std::size_t>(bytes[i + 2]) << 8) + std::to_integer<std::size_t>(bytes[i + 3]);
  }
  throw std::runtime_error("no such marker");
}

PlainHeader plain_header(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  jpeg_decompress_struct& info = decoder.info;
  for (int code = JPEG_APP0 + 1; code <= JPEG_APP0 + 14; ++code) jpeg_save_markers(&info, code, 0xffff);
  jpeg_save_markers(&info, JPEG_COM, 0xffff);
  jpeg_read_header(&info, TRUE);
  PlainHeader header{info.restart_interval,         info.progressive_mode != FALSE, info.arith_code != FALSE,
                     info.saw_JFIF_marker != FALSE, info.saw_Adobe_marker != FALSE, {}};
  for (jpeg_saved_marker_ptr marker = info.marker_list; marker != nullptr; marker = marker->next)
    header.markers.emplace_back(marker->marker,
                                std::string(reinterpret_cast<const char*>(marker->data), marker->data_length));
  return header;
}

}  // namespace penstock_test
