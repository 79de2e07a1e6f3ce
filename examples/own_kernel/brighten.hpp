// SPDX-License-Identifier: Apache-2.0
// Defines a stage for use after `batch`. On a GPU it is a kernel. On the host and on an emulated GPU it does the same
// arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/extend/device_stage.hpp>
#include <penstock/penstock.hpp>

#ifdef __CUDACC__
// NOLINTNEXTLINE(readability-identifier-naming): the application's, not the library's
#define ON_BOTH __host__ __device__
#else
// NOLINTNEXTLINE(readability-identifier-naming): the application's, not the library's
#define ON_BOTH
#endif

// What the host draws for each sample. It is the same at any number of threads and on any device.
struct Light {
  std::int32_t gain;   // in 256ths
  std::int32_t shift;  // added afterwards
};

// Computes in whole numbers, so that all devices give the same bits.
ON_BOTH inline std::uint8_t brighter(std::uint8_t value, Light light) {
  const std::int32_t v = ((value * light.gain + 128) >> 8) + light.shift;
  return static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

// The work for one batch. The pointers are to memory of the device that does the work.
struct Brightening {
  const std::uint8_t* from;
  std::uint8_t* to;
  const Light* lights;  // one per row
  Light* lights_to;     // the field "light" of the batch
  std::size_t row_bytes;
  std::uint64_t rows;
};

// Defined in brighten.cu, only in builds with CUDA.
void brighten_on_gpu(const Brightening& work, penstock::StreamRef stream);

// A stage that makes "image" brighter or darker. The new field "light" has what was drawn.
struct Brighten {
  using Draws = Light;
  Draws draw(penstock::Rng& rng) const {
    return {192 + static_cast<std::int32_t>(rng.below(129)), static_cast<std::int32_t>(rng.below(65)) - 32};
  }
  penstock::Schema schema(const penstock::Schema& in) const { return in.with({"light", penstock::DType::i32, {2}}); }
  // The type of "image" does not change, so the stage must declare that it writes the field.
  std::vector<std::string> writes() const { return {"image"}; }
  std::string name() const { return "brighten"; }
  void run(penstock::BatchView in, penstock::BatchView out, penstock::StreamRef stream) const;
};
