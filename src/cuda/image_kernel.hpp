#pragma once

#include <penstock/device.hpp>

#include "../image_pixel.hpp"

namespace penstock::detail {

/// Enqueues the kernel on a GPU's stream. Does not wait. @throws Error(device), or Error(unsupported) in a build
/// without CUDA.
void make_pixels_on_gpu(const PixelWork& work, StreamRef stream);

}  // namespace penstock::detail
