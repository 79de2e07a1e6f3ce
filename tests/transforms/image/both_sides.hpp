// SPDX-License-Identifier: Apache-2.0
// The batches of a pipeline, wherever its stages after batch are carried out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <penstock/emulated_gpu.hpp>
#include <penstock/penstock.hpp>

#include "support/catch.hpp"

namespace penstock_test {

using namespace penstock;

using Bytes = std::vector<std::byte>;

// All fields of all batches of two epochs, on the host.
inline std::vector<Bytes> on_host(const Pipeline& pipeline) {
  std::vector<Bytes> out;
  Loader loader(pipeline, {.threads = 2});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (Batch& batch : loader.epoch())
      for (const Field& field : batch.schema()) {
        const TensorView t = batch[field.name];
        out.emplace_back(t.data, t.data + t.bytes());
      }
  return out;
}

// Batches as an emulated GPU makes them, which finds uses that no event orders.
inline std::vector<Bytes> on_device(const Pipeline& pipeline, EmulatedGpuOptions::Mode mode) {
  EmulatedGpu gpu({.mode = mode, .checked = true});
  auto stream = gpu.make_stream("consumer");
  std::vector<Bytes> out;
  Loader loader(pipeline, {.device = gpu.device(), .threads = 2});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (Batch& batch : loader.epoch(stream.ref())) {
      stream.synchronize();
      for (const Field& field : batch.schema()) {
        const TensorView t = batch[field.name];
        out.emplace_back(t.data, t.data + t.bytes());
      }
    }
  for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
  return out;
}

using Stages = std::function<Pipeline(Pipeline)>;

// `after` brings on the host and on emulated GPUs what `before` brings on the host.
inline void check_both_sides(const Pipeline& before, const Pipeline& after) {
  const std::vector<Bytes> expected = on_host(before);
  REQUIRE(after.schema() == before.schema());
  CHECK(on_host(after) == expected);
  for (const auto mode : {EmulatedGpuOptions::Mode::late, EmulatedGpuOptions::Mode::threaded})
    CHECK(on_device(after, mode) == expected);
}

}  // namespace penstock_test
