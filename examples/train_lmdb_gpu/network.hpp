// SPDX-License-Identifier: Apache-2.0
// A perceptron with one hidden layer, trained by stochastic gradient descent with momentum. The model is the same on
// the host and on a GPU, and the training code does not depend on where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/penstock.hpp>

struct Sizes {
  std::size_t features, hidden, classes;
  std::size_t max_rows;  // the largest number of rows of a batch
};

class Network {
 public:
  struct Result {
    double loss = 0;          // sum over the rows
    std::uint64_t right = 0;  // number of rows whose largest output belongs to their label
    std::uint64_t rows = 0;
    double busy_s = 0;  // seconds in which a GPU worked on these steps; 0 on the host
  };
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  // Return the device on which the network takes batches, and the stream on which it works. `Loader::epoch` gets the
  // stream.
  virtual penstock::Device device() const = 0;
  virtual penstock::StreamRef stream() const = 0;
  // Makes one training step with the fields "image", f32 with `features` numbers per row in any shape, and "label",
  // i64. On a GPU it only puts the work on the stream. The batch may be released as soon as the function returns.
  virtual void train(const penstock::Batch& batch, float rate) = 0;
  virtual void test(const penstock::Batch& batch) = 0;
  // Returns the result of all batches since the last call. On a GPU, only this function waits for the batches.
  virtual Result result() = 0;
};

// The initial weights and biases of both layers: [features, hidden], [hidden], [hidden, classes], [classes]. They are
// the same on every machine.
struct Weights {
  explicit Weights(const Sizes& sizes);
  std::vector<float> w1, b1, w2, b2;
};
constexpr float momentum = 0.9f;

// Returns a network of plain loops on the host.
std::unique_ptr<Network> host_network(const Sizes& sizes);
// What multiplies matrices on a GPU. cuBLAS is used only if the machine has it.
enum class MatrixProducts { cublas, plain_kernel };
// Returns a network on gpu(0). @throws std::runtime_error in a build without CUDA, or if a CUDA call fails.
std::unique_ptr<Network> gpu_network(const Sizes& sizes, MatrixProducts by = MatrixProducts::cublas);
