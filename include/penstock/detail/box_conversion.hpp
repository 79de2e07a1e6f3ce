// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/extend/image_op.hpp>
#include <penstock/stages/box_format.hpp>

namespace penstock::detail {

/// A conversion of boxes from one format to another.
struct BoxConversion {
  BoxFormat from = BoxFormat::xyxy, to = BoxFormat::xyxy;
  bool keeps_share = true;  ///< false: boxes of five numbers become boxes of four
};

inline bool in_shares(BoxFormat format) noexcept { return format >= BoxFormat::xyxy_shares; }
inline BoxFormat in_pixels(BoxFormat format) noexcept {
  switch (format) {
    case BoxFormat::xyxy_shares:
      return BoxFormat::xyxy;
    case BoxFormat::xywh_shares:
      return BoxFormat::xywh;
    case BoxFormat::cxcywh_shares:
      return BoxFormat::cxcywh;
    default:
      return format;
  }
}

/// Converts four numbers in place. Computes in binary64, and rounds once. `image`: size of the image; only used if one
/// of the formats, and not the other, is in shares.
inline void convert_box(const BoxConversion& conversion, Size image, float* box) noexcept {
  double n[4];
  for (int i = 0; i < 4; ++i) n[i] = static_cast<double>(box[i]);
  if (const bool shares = in_shares(conversion.from); shares != in_shares(conversion.to))
    for (int i = 0; i < 4; ++i) {
      const double side = i % 2 == 0 ? image.width : image.height;
      n[i] = shares ? n[i] * side : n[i] / side;
    }
  const BoxFormat from = in_pixels(conversion.from), to = in_pixels(conversion.to);
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

}  // namespace penstock::detail
