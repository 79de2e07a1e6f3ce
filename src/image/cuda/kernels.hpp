// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/device.hpp>

#include "image/image_pixel.hpp"
#include "image/resample_work.hpp"

namespace penstock::detail {

// `no_kernels.cpp` implements these functions in a build without CUDA. This header includes no CUDA header.

/// Enqueues the kernel of image stages on a GPU's stream. Does not wait.
/// @throws Error(device), or Error(unsupported) in a build without CUDA.
void make_pixels_on_gpu(const PixelWork& work, StreamRef stream);

/// Enqueues, on a GPU's stream, the kernel that resamples images. Does not wait. @throws like `make_pixels_on_gpu`.
void resample_on_gpu(const ResampleWork& work, StreamRef stream);

}  // namespace penstock::detail
