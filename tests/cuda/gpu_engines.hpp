// SPDX-License-Identifier: Apache-2.0
// Whether the GPU has engines for JPEGs.
#pragma once

#include <string>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "cuda/gpu_help.hpp"

// Ends a TEST_CASE that needs engines for JPEGs where there are none; it is counted as skipped.
#define PENSTOCK_NEEDS_ENGINES() \
  PENSTOCK_NEEDS_GPU();          \
  if (const std::string why = help::why_no_engines(); !why.empty()) PENSTOCK_SKIP(why.c_str())

namespace help {

inline std::string why_no_engines() {
  const GpuStream chosen;  // the device is in use
  try {
    static_cast<void>(ps::jpeg_decoder()->start_batches(ps::gpu(0)));
    return "";
  } catch (const ps::Error& error) {
    return error.what();
  }
}

}  // namespace help
