// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

#include <algorithm>

namespace penstock::jpeg::baseline {

namespace {

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
      frame.block[frame.blocks++] = {to.dc, to.ac, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(x),
                                     static_cast<std::uint8_t>(y)};
    }
  }
  return std::nullopt;
}

std::optional<HandOverReason> set_sampling(Frame& frame) {
  if (frame.components == 1) return std::nullopt;
  const Component &luma = frame.component[0], &blue = frame.component[1], &red = frame.component[2];
  if (luma.h != frame.h || luma.v != frame.v || blue.h != red.h || blue.v != red.v) return HandOverReason::sampling;
  if (frame.h % blue.h != 0 || frame.v % blue.v != 0) return HandOverReason::sampling;
  frame.chroma_across = frame.h / blue.h;
  frame.chroma_down = frame.v / blue.v;
  const int most = frame.colors == Colors::rgb ? 1 : 2;
  if (frame.chroma_across > most || frame.chroma_down > most || frame.v > 2) return HandOverReason::sampling;
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
  frame.width = static_cast<int>(info.image_width);
  frame.height = static_cast<int>(info.image_height);
  frame.restart_interval = info.restart_interval;
  if (frame.components == 1) frame.alone_v = info.comp_info[0].v_samp_factor;
  for (int i = 0; i < frame.components; ++i)
    if (const auto reason = set_component(info, i, tables, frame)) return reason;
  if (const auto reason = set_sampling(frame)) return reason;
  frame.mcus_across = (frame.width + frame.mcu_width() - 1) / frame.mcu_width();
  frame.mcus_down = (frame.height + frame.mcu_height() - 1) / frame.mcu_height();
  return std::nullopt;
}

}  // namespace penstock::jpeg::baseline
