// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/extend/image_op.hpp>
#include <penstock/stages/box_format.hpp>

namespace penstock {

/// A conversion of boxes from one format to another.
struct BoxConversion {
  BoxFormat from = BoxFormat::xyxy;  ///< format of the boxes before
  BoxFormat to = BoxFormat::xyxy;    ///< format of the boxes after
  bool keeps_share = true;           ///< false: boxes of five numbers become boxes of four
};

/// Returns whether the numbers of a format are shares of the image's sides.
inline bool in_shares(BoxFormat format) noexcept { return format >= BoxFormat::xyxy_shares; }

/// Converts the four numbers of a box in place. Computes in binary64, and rounds once. `image`: size of the image. Only
/// used if one of the formats, and not the other, is in shares.
inline void convert_box(const BoxConversion& conversion, Size image, float* box) noexcept {
  const auto pixels_of = [](BoxFormat format) {
    return format == BoxFormat::xyxy_shares     ? BoxFormat::xyxy
           : format == BoxFormat::xywh_shares   ? BoxFormat::xywh
           : format == BoxFormat::cxcywh_shares ? BoxFormat::cxcywh
                                                : format;
  };
  double n[4];
  for (int i = 0; i < 4; ++i) n[i] = static_cast<double>(box[i]);
  if (const bool shares = in_shares(conversion.from); shares != in_shares(conversion.to))
    for (int i = 0; i < 4; ++i) {
      const double side = i % 2 == 0 ? image.width : image.height;
      n[i] = shares ? n[i] * side : n[i] / side;
    }
  const BoxFormat from = pixels_of(conversion.from), to = pixels_of(conversion.to);
  if (from != to) {
    for (int i = 0; i < 2; ++i) {
      const double low = from == BoxFormat::cxcywh ? n[i] - n[i + 2] / 2 : n[i];
      const double high = from == BoxFormat::xyxy ? n[i + 2] : low + n[i + 2];
      const double length = from == BoxFormat::xyxy ? high - low : n[i + 2];
      n[i] = to == BoxFormat::cxcywh ? (from == BoxFormat::xyxy ? (low + high) / 2 : low + length / 2) : low;
      n[i + 2] = to == BoxFormat::xyxy ? high : length;
    }
  }
  for (int i = 0; i < 4; ++i) box[i] = static_cast<float>(n[i]);
}

}  // namespace penstock
