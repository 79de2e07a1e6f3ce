// SPDX-License-Identifier: Apache-2.0
// One device's half of a training step: the gradient of a linear model on its part of a batch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/penstock.hpp>

constexpr std::int64_t inputs = 4;
using Numbers = std::array<float, inputs>;

// Adds up what each row says of the weights' errors, and divides by the rows: the mean over the part.
void mean_gradient(const float* x, const float* y, std::uint64_t rows, const Numbers& weights, Numbers& to);

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;
  virtual penstock::Device device() const = 0;
  virtual penstock::StreamRef stream() const = 0;
  // Puts the work on the stream; the part may be let go as soon as this returns.
  virtual void begin(const penstock::Batch& part, const Numbers& weights) = 0;
  // Waits for it.
  virtual Numbers gradient() = 0;
};

// Two GPUs; two that the host emulates where there are not as many, or `emulated`.
std::vector<std::unique_ptr<Worker>> two_workers(bool emulated);
// In gpu_worker.cu, in builds with CUDA. None where there are fewer GPUs than two.
std::vector<std::unique_ptr<Worker>> two_gpu_workers();
