// SPDX-License-Identifier: Apache-2.0
// Mixes and erases in whole batches, on the host and on a GPU.
#pragma once

#include <cstdint>

#include <penstock/device.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/transforms/image/random_erasing.hpp>

#include "color_kernels.hpp"
#include "mix_arithmetic.hpp"

namespace penstock::image {

// The images of a batch. Memory of work structs is on the device.
struct ImageRows {
  const void* in = nullptr;
  void* out = nullptr;
  std::uint64_t rows = 0;
  std::int32_t height = 0, width = 0, channels = 0;
  Layout layout = Layout::hwc;
  std::uint32_t element = 1;  // bytes
};

// A field whose rows are mixed: [rows, elements].
struct MixRows {
  const void* in = nullptr;
  void* out = nullptr;
  std::uint64_t rows = 0, elements = 0;
  DType dtype = DType::f32;  // f32, f16 or bf16
};

// The shares of mixup.
struct DrawnShares {
  const MixDraw* draws = nullptr;
  PENSTOCK_HOST_DEVICE bool mixes(std::uint64_t rows, std::uint64_t row) const {
    return has_neighbour(draws, rows, row);
  }
  PENSTOCK_HOST_DEVICE float share(std::uint64_t row) const { return draw_of_pair(draws, row).share; }
};

// The shares of cutmix: those of pixels outside of the box.
struct CutShares {
  const CutDraw* draws = nullptr;
  std::int32_t height = 0, width = 0;
  PENSTOCK_HOST_DEVICE bool mixes(std::uint64_t rows, std::uint64_t row) const {
    return has_neighbour(draws, rows, row);
  }
  PENSTOCK_HOST_DEVICE float share(std::uint64_t row) const {
    return share_outside(cut_box(draw_of_pair(draws, row), height, width), height, width);
  }
};

// What random_erasing needs besides the images.
struct EraseWork {
  ImageRows images;
  const RandomErasing::Params* draws = nullptr;
  float root = 0;               // sqrt(H W)
  std::uint32_t value[4] = {};  // bits of one element of each channel
};

// Returns the box that is erased in an image of `root` * `root` pixels.
PENSTOCK_HOST_DEVICE inline PixelBox erased_box(const RandomErasing::Params& draw, float root, std::int32_t height,
                                                std::int32_t width) {
  if (draw.erases == 0) return {};
  for (int i = 0; i < RandomErasing::Params::tries; ++i) {
    const float tall = exact::sum(exact::product(draw.tall[i], root), 0.5f);
    const float wide = exact::sum(exact::product(draw.wide[i], root), 0.5f);
    if (!(tall >= 1 && wide >= 1 && tall < 2.0e9f && wide < 2.0e9f)) continue;
    const auto h = static_cast<std::int32_t>(tall), w = static_cast<std::int32_t>(wide);
    if (h > height || w > width) continue;
    const std::int32_t top = part_of(draw.top, height - h + 1), left = part_of(draw.left, width - w + 1);
    return {top, left, top + h, left + w};
  }
  return {};
}

// These functions enqueue kernels on a GPU's stream, and do not wait for them. @throws Error(device), or
// Error(unsupported) in a build without CUDA.
#ifdef PENSTOCK_COLOR_KERNELS
void mix_on_gpu(const MixRows& work, const DrawnShares& shares, StreamRef stream);
void mix_on_gpu(const MixRows& work, const CutShares& shares, StreamRef stream);
void cut_on_gpu(const ImageRows& images, const CutDraw* draws, StreamRef stream);
void erase_on_gpu(const EraseWork& work, StreamRef stream);
#else
inline void mix_on_gpu(const MixRows&, const DrawnShares&, StreamRef) { refuse_kernels(); }
inline void mix_on_gpu(const MixRows&, const CutShares&, StreamRef) { refuse_kernels(); }
inline void cut_on_gpu(const ImageRows&, const CutDraw*, StreamRef) { refuse_kernels(); }
inline void erase_on_gpu(const EraseWork&, StreamRef) { refuse_kernels(); }
#endif

}  // namespace penstock::image
