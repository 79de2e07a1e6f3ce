// SPDX-License-Identifier: Apache-2.0
// The work of a training step, with a chosen duration.
#pragma once

#include <optional>

#include "cublas.hpp"
#include "cuda_help.hpp"

namespace penstock::gpu_bench {

class Load {
 public:
  enum class Sort {
    gemm,    // matrix products, which use the GPU's cores
    memory,  // uses the GPU's memory
  };
  // What the matrices have; zeros by default. Products of random numbers take more power than the GPU may draw. Its
  // clock then changes by several percent, depending on how hot earlier work has made it.
  enum class Numbers { zeros, random };
  explicit Load(Sort sort, Numbers numbers = Numbers::zeros);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Sets the duration of a step to about `seconds`, or to a little less if `below`. A step has at least `parts` equal
  // pieces, if pieces can be that small.
  void take(double seconds, const CudaStream& stream, int parts = 4, bool below = false);
  void enqueue(cudaStream_t stream) const;
  // Enqueues the largest possible piece of the same sort. A stream holds about a thousand pieces, and then the host
  // waits.
  void enqueue_large(cudaStream_t stream) const;
  // Works for 300 ms and returns. A GPU without work runs at a few hundred MHz. Anything timed before its clock has
  // risen would not be comparable.
  void warm(const CudaStream& stream) const;

 private:
  void enqueue_piece(cudaStream_t stream, int side) const;
  int least_side() const;
  Sort sort_;
  Memory memory_;
  std::optional<Cublas> cublas_;  // only for matrix products
  int side_ = 0;                  // side of a piece's matrices
  int pieces_ = 1;                // number of pieces in a step
};

}  // namespace penstock::gpu_bench
