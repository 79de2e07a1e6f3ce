// SPDX-License-Identifier: Apache-2.0
// Changes colours of whole batches on a GPU.
#pragma once

#include <cstdint>

#include <penstock/device.hpp>
#include <penstock/error.hpp>
#include <penstock/transforms/image/color_pixel.hpp>
#include <penstock/transforms/image/stain_pixel.hpp>

namespace penstock::image {

// The images of a batch, in and out, u8 [N, pixels, channels], and the change of each image. All are on the device.
template <class Change>
struct JitterWork {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  const Change* changes = nullptr;  // [N]
  std::uint64_t images = 0;         // N
  std::uint64_t pixels = 0;
  int channels = 0;
};
// The change that was drawn for an image, and room for kernels to sum up its greys for contrast.
struct ColorDraw {
  ColorChange change;
  unsigned long long gray_sum = 0;
};
using ColorWork = JitterWork<ColorDraw>;
using StainWork = JitterWork<StainChange>;

// These functions enqueue kernels on a GPU's stream, and do not wait for them. @throws Error(device), or
// Error(unsupported) in a build without CUDA.
#ifdef PENSTOCK_COLOR_KERNELS
void color_jitter_on_gpu(const ColorWork& work, StreamRef stream);
void stain_jitter_on_gpu(const StainWork& work, const OpticalDensities& densities, StreamRef stream);
#else
[[noreturn]] inline void refuse_kernels() {
  throw Error(Errc::unsupported, "this build has no kernels for a GPU; configure with -DPENSTOCK_CUDA=ON");
}
inline void color_jitter_on_gpu(const ColorWork&, StreamRef) { refuse_kernels(); }
inline void stain_jitter_on_gpu(const StainWork&, const OpticalDensities&, StreamRef) { refuse_kernels(); }
#endif

}  // namespace penstock::image
