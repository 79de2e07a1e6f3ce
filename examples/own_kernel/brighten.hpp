// SPDX-License-Identifier: Apache-2.0
// A stage of one's own after `batch`: a kernel on a GPU, the same arithmetic on the host and on a GPU that it
// emulates.
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

// What is drawn for each sample, on the host: the same at any number of threads, on any device.
struct Light {
  std::int32_t gain;   // in 256ths
  std::int32_t shift;  // added after
};

// Whole numbers, so that all devices have the same bits.
ON_BOTH inline std::uint8_t brighter(std::uint8_t value, Light light) {
  const std::int32_t v = ((value * light.gain + 128) >> 8) + light.shift;
  return static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

// One batch's work: pointers to memory of the device that does it.
struct Brightening {
  const std::uint8_t* from;
  std::uint8_t* to;
  const Light* lights;  // one a row
  Light* lights_to;     // a field of the batch
  std::size_t row_bytes;
  std::uint64_t rows;
};

// Defined in brighten.cu, in builds with CUDA.
void brighten_on_gpu(const Brightening& work, penstock::StreamRef stream);

// "image" becomes brighter or darker; "light" is what was drawn.
struct Brighten {
  using Draws = Light;
  Draws draw(penstock::Rng& rng) const {
    return {192 + static_cast<std::int32_t>(rng.below(129)), static_cast<std::int32_t>(rng.below(65)) - 32};
  }
  penstock::Schema schema(const penstock::Schema& in) const { return in.with({"light", penstock::DType::i32, {2}}); }
  // Its type stays, so it has to be named.
  std::vector<std::string> writes() const { return {"image"}; }
  std::string name() const { return "brighten"; }
  void run(penstock::BatchView in, penstock::BatchView out, penstock::StreamRef stream) const;
};
