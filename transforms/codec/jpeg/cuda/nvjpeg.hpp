// SPDX-License-Identifier: Apache-2.0
// Decodes JPEGs of whole batches with the GPU's own engines, through NVIDIA's library nvJPEG. The library is looked for
// when a program runs; its headers and CUDA's are not needed.
#pragma once

#include <memory>
#include <string>

#include <penstock/extend/image_decoder.hpp>

namespace penstock::jpeg {

// The longest side of images that the engines take, in pixels.
inline constexpr std::int32_t max_engine_side = 8192;

// Makes the decoder of one loader on `gpu`. The calling thread must have made `gpu` its current device. Returns null,
// and sets `why` to the reason, if the GPU has no engine or the library can't be used. @throws Error(out_of_memory).
std::unique_ptr<BatchDecoding> nvjpeg_batches(Device gpu, std::string& why);

}  // namespace penstock::jpeg
