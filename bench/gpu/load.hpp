// SPDX-License-Identifier: Apache-2.0
// What a training step does, as long as is wanted.
#pragma once

#include <optional>

#include "cublas.hpp"
#include "cuda_help.hpp"

namespace penstock::gpu_bench {

class Load {
 public:
  enum class Sort {
    gemm,    // products of matrices: the GPU's cores
    memory,  // the GPU's memory
  };
  // Zeros by default. Products of other numbers take more power than the GPU may have: its clock then moves by several
  // percent, with the heat of whatever ran before.
  enum class Numbers { zeros, random };
  explicit Load(Sort sort, Numbers numbers = Numbers::zeros);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // A step takes about so many seconds from now on, or a little less where `below`; it is made of `parts` or more equal
  // pieces where there are such small ones.
  void take(double seconds, const CudaStream& stream, int parts = 4, bool below = false);
  void enqueue(cudaStream_t stream) const;
  // Work of the same sort in the largest piece there is: streams hold about a thousand pieces, and the host waits then.
  void enqueue_large(cudaStream_t stream) const;
  // Runs for 300 ms and returns: a GPU that had nothing to do comes back from a clock of a few hundred MHz, and what is
  // timed before that is timed on another machine.
  void warm(const CudaStream& stream) const;

 private:
  void enqueue_piece(cudaStream_t stream, int side) const;
  int least_side() const;
  Sort sort_;
  Memory memory_;
  std::optional<Cublas> cublas_;  // of products
  int side_ = 0;                  // of a piece's matrices
  int pieces_ = 1;                // a step
};

}  // namespace penstock::gpu_bench
