// JPEGs of whole batches, decoded by the GPU's own engines through NVIDIA's library nvJPEG, which is looked for when a
// program runs. No header of it or of CUDA is needed.
#pragma once

#include <memory>
#include <string>

#include <penstock/extend/image_decoder.hpp>

namespace penstock::jpeg {

// Sides of images that the engines take, in pixels.
inline constexpr std::int32_t max_engine_side = 8192;

// For one loader on that GPU, which the calling thread has chosen; null where it or the library is not there, and `why`
// says so. @throws Error(device | out_of_memory).
std::unique_ptr<BatchDecoding> nvjpeg_batches(Device gpu, std::string& why);

}  // namespace penstock::jpeg
