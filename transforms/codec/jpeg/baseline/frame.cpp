// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

#include <algorithm>

namespace penstock::jpeg::baseline {

namespace {

int size_of_blocks(const jpeg_component_info& component) {
#if JPEG_LIB_VERSION >= 70
  return component.DCT_h_scaled_size;
#else
  return component.DCT_scaled_size;
#endif
}

std::optional<HandOverReason> set_colors(const jpeg_decompress_struct& info, Frame& frame) {
  const bool gray_output = info.out_color_space == JCS_GRAYSCALE;
  if (info.num_components == 1 && info.jpeg_color_space == JCS_GRAYSCALE)
    frame.colors = Colors::gray;
  else if (info.num_components == 3 && info.jpeg_color_space == JCS_YCbCr)
    frame.colors = Colors::ycc;
  else if (info.num_components == 3 && info.jpeg_color_space == JCS_RGB && !gray_output)
    frame.colors = Colors::rgb;
  else
    return HandOverReason::colors;
  return gray_output || info.out_color_space == JCS_RGB ? std::nullopt : std::optional(HandOverReason::colors);
}

// Sets component `i`. If it is the scan's only component, each MCU is one block, even if the component's sampling
// factors are larger than 1.
std::optional<HandOverReason> set_component(const jpeg_decompress_struct& info, int i, TableCache& tables,
                                            Frame& frame) {
  const jpeg_component_info& from = *info.cur_comp_info[i];
  if (from.component_index != i) return HandOverReason::scans;
  Component& to = frame.component[i];
  to.h = frame.components == 1 ? 1 : from.h_samp_factor;
  to.v = frame.components == 1 ? 1 : from.v_samp_factor;
  to.size = size_of_blocks(from);
  frame.h = std::max(frame.h, to.h);
  frame.v = std::max(frame.v, to.v);
  const auto table = [](const auto& of, int number, int count) {
    return number >= 0 && number < count ? of[number] : nullptr;
  };
  const JHUFF_TBL *dc = table(info.dc_huff_tbl_ptrs, from.dc_tbl_no, NUM_HUFF_TBLS),
                  *ac = table(info.ac_huff_tbl_ptrs, from.ac_tbl_no, NUM_HUFF_TBLS);
  const JQUANT_TBL* quantization = table(info.quant_tbl_ptrs, from.quant_tbl_no, NUM_QUANT_TBLS);
  if (dc == nullptr || ac == nullptr || quantization == nullptr) return HandOverReason::tables;
  to.dc = tables.dc(*dc);
  to.ac = tables.ac(*ac);
  if (to.dc == nullptr || to.ac == nullptr) return HandOverReason::tables;
  std::copy_n(quantization->quantval, DCTSIZE2, to.quantization);
  for (int y = 0; y < to.v; ++y) {
    for (int x = 0; x < to.h; ++x) {
      if (frame.blocks == D_MAX_BLOCKS_IN_MCU) return HandOverReason::sampling;
      frame.block[frame.blocks++] = {
          to.dc,       to.ac, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
          to.size == 1};
    }
  }
  return std::nullopt;
}

std::optional<HandOverReason> set_sampling(Frame& frame) {
  if (frame.components == 1) return std::nullopt;
  const Component &luma = frame.component[0], &blue = frame.component[1], &red = frame.component[2];
  if (luma.h != frame.h || luma.v != frame.v || blue.h != red.h || blue.v != red.v) return HandOverReason::sampling;
  if (frame.h % blue.h != 0 || frame.v % blue.v != 0) return HandOverReason::sampling;
  const int across = frame.h / blue.h, down = frame.v / blue.v, most = frame.colors == Colors::rgb ? 1 : 2;
  if (across > most || down > most || frame.v > 2) return HandOverReason::sampling;
  // In a reduced picture, blocks of chroma may have more values than those of luma.
  if (blue.size != red.size || across * luma.size % blue.size != 0 || down * luma.size % blue.size != 0)
    return HandOverReason::sampling;
  frame.chroma_across = across * luma.size / blue.size;
  frame.chroma_down = down * luma.size / blue.size;
  return std::nullopt;
}

}  // namespace

std::optional<HandOverReason> Frame::read(const jpeg_decompress_struct& info, TableCache& tables, Frame& frame) {
  if (info.progressive_mode != FALSE || info.arith_code != FALSE || info.data_precision != 8)
    return HandOverReason::kind;
  frame = Frame();
  if (const auto reason = set_colors(info, frame)) return reason;
  if (info.comps_in_scan != info.num_components) return HandOverReason::scans;
  if (info.Ss != 0 || info.Se != DCTSIZE2 - 1 || info.Ah != 0 || info.Al != 0) return HandOverReason::scans;
  frame.components = info.num_components;
  frame.width = static_cast<int>(info.output_width);
  frame.height = static_cast<int>(info.output_height);
  frame.restart_interval = info.restart_interval;
  if (frame.components == 1) frame.alone_v = info.comp_info[0].v_samp_factor;
  for (int i = 0; i < frame.components; ++i)
    if (const auto reason = set_component(info, i, tables, frame)) return reason;
  if (const auto reason = set_sampling(frame)) return reason;
  frame.size = frame.component[0].size;
  const auto mcus = [](JDIMENSION pixels, int blocks) {
    const auto each = static_cast<JDIMENSION>(DCTSIZE * blocks);
    return static_cast<int>((pixels + each - 1) / each);
  };
  frame.mcus_across = mcus(info.image_width, frame.h);
  frame.mcus_down = mcus(info.image_height, frame.v);
  return std::nullopt;
}

}  // namespace penstock::jpeg::baseline
