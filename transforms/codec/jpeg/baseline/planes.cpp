// SPDX-License-Identifier: Apache-2.0
#include "planes.hpp"

#include <algorithm>

namespace penstock::jpeg::baseline {

Planes::Planes(const Frame& frame, int first, int end, bool luma_only, Scratch& scratch)
    : frame_(frame), components_(luma_only ? 1 : frame.components) {
  constexpr std::ptrdiff_t margin = row_margin, alignment = 64;
  for (int c = 0; c < components_; ++c) {
    const Component& component = frame.component[c];
    Plane& plane = planes_[c];
    plane.inverse_dct = inverse_dct(component.size);
    const std::ptrdiff_t width = std::ptrdiff_t{end - first} * component.h * component.size + 2 * margin;
    plane.stride = (width + alignment - 1) / alignment * alignment;
    plane.rows = 2 * component.v * component.size;
    std::byte* const room = scratch.allocate(static_cast<std::size_t>(plane.stride * plane.rows));
    plane.values = reinterpret_cast<std::uint8_t*>(room) + margin;
    int blocks = 0;
    for (int mcu = 0; mcu < static_cast<int>(ScanReader::most_blocks) / frame.blocks; ++mcu) {
      for (int k = 0; k < frame.blocks; ++k) {
        const Frame::BlockOf& of = frame.block[k];
        if (of.component != c) continue;
        plane.from[blocks] = static_cast<std::uint8_t>(mcu * frame.blocks + k);
        plane.to[blocks++] = plane.stride * (of.y * component.size) + (mcu * component.h + of.x) * component.size;
      }
    }
  }
}

void Planes::put(int mcu_row, int first, int some, Block* blocks) {
  for (int c = 0; c < components_; ++c) {
    const Component& component = frame_.component[c];
    const Plane& plane = planes_[c];
    std::uint8_t* const corner = plane.values + plane.stride * ((mcu_row & 1) * component.v * component.size) +
                                 std::ptrdiff_t{first} * component.h * component.size;
    usual_ &= plane.inverse_dct(
        {blocks, plane.from, corner, plane.to, some * component.h * component.v, plane.stride, component.quantization});
  }
  if (components_ == frame_.components) return;
  for (int i = 0; i < some * frame_.blocks; ++i)
    if (frame_.block[i % frame_.blocks].component >= components_)
      std::fill_n(blocks[i].coefficients, DCTSIZE2, std::int16_t{0});
}

}  // namespace penstock::jpeg::baseline
