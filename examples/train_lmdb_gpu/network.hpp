// SPDX-License-Identifier: Apache-2.0
// A perceptron with one hidden layer, trained by stochastic gradient descent with momentum: one model, on the host or
// on a GPU. Whoever trains it need not know which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/penstock.hpp>

struct Sizes {
  std::size_t features, hidden, classes;
  std::size_t max_rows;  // of a batch
};

class Network {
 public:
  struct Result {
    double loss = 0;          // summed over the rows
    std::uint64_t right = 0;  // rows whose largest output is their label's
    std::uint64_t rows = 0;
    double busy_s = 0;  // in which a GPU worked on these steps; the host does not count it
  };
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  // Where it takes batches, and the stream that it works on: what `Loader::epoch` is told.
  virtual penstock::Device device() const = 0;
  virtual penstock::StreamRef stream() const = 0;
  // One step on "image", [N, features] of f32 in any shape, and "label", i64. On a GPU the work is put on the stream:
  // the batch may be let go as soon as this returns.
  virtual void train(const penstock::Batch& batch, float rate) = 0;
  virtual void test(const penstock::Batch& batch) = 0;
  // The result of all batches since the last call. On a GPU this waits for them, and nothing else does.
  virtual Result result() = 0;
};

// Weights and biases of both layers, [features, hidden], [hidden], [hidden, classes], [classes]: the same everywhere.
struct Weights {
  explicit Weights(const Sizes& sizes);
  std::vector<float> w1, b1, w2, b2;
};
constexpr float momentum = 0.9f;

// Plain loops.
std::unique_ptr<Network> host_network(const Sizes& sizes);
// What multiplies matrices on a GPU; cuBLAS only where the machine has it.
enum class MatrixProducts { cublas, plain_kernel };
// On gpu(0). @throws std::runtime_error in a build without CUDA, or from a call of CUDA's.
std::unique_ptr<Network> gpu_network(const Sizes& sizes, MatrixProducts by = MatrixProducts::cublas);
