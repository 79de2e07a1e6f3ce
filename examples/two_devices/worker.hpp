// SPDX-License-Identifier: Apache-2.0
// One device's share of a training step: the gradient of a linear model for the device's part of a batch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/penstock.hpp>

constexpr std::int64_t inputs = 4;
using Numbers = std::array<float, inputs>;

// Computes the mean gradient over the rows of a part.
void mean_gradient(const float* x, const float* y, std::uint64_t rows, const Numbers& weights, Numbers& to);

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;
  virtual penstock::Device device() const = 0;
  virtual penstock::StreamRef stream() const = 0;
  // Puts the work on the stream. The part may be released as soon as the function returns.
  virtual void begin(const penstock::Batch& part, const Numbers& weights) = 0;
  // Waits for the work and returns the gradient.
  virtual Numbers gradient() = 0;
};

// Returns two workers on GPUs. If there are fewer than two GPUs, or if `emulated`, they are on emulated GPUs.
std::vector<std::unique_ptr<Worker>> two_workers(bool emulated);
// Defined in gpu_worker.cu, only in builds with CUDA. Returns no workers if there are fewer than two GPUs.
std::vector<std::unique_ptr<Worker>> two_gpu_workers();
