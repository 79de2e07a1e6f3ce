// SPDX-License-Identifier: Apache-2.0
// What the tests of GPUs share: a training loop's side, which puts its work on a stream and never waits for it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>

#include "core/help.hpp"
#include "cuda/kernels.hpp"

// Ends a TEST_CASE that needs a GPU where there is none; it is counted as skipped.
#define PENSTOCK_NEEDS_GPU() \
  if (penstock::best_device() == penstock::host()) PENSTOCK_SKIP(("no GPU: " + penstock::device_support()).c_str())

namespace help {

/// Throws, with the words, unless a call of CUDA's of the test's own went well.
void must(cudaError_t code);

/// A stream of a user's, which waits for no other by itself.
class GpuStream {
 public:
  GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  ~GpuStream();
  cudaStream_t handle() const { return handle_; }
  ps::StreamRef ref() const;
  void synchronize() const { must(cudaStreamSynchronize(handle_)); }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Copies batches out on a stream, into pinned memory that is taken beforehand: neither waits for anything. What is
/// copied is there after `finish`.
class GpuConsumer {
 public:
  explicit GpuConsumer(std::size_t max_bytes = ps::MiB(8));
  GpuConsumer(const GpuConsumer&) = delete;
  GpuConsumer& operator=(const GpuConsumer&) = delete;
  ~GpuConsumer();

  ps::StreamRef ref() const { return stream_.ref(); }
  const GpuStream& stream() const { return stream_; }
  /// Enqueues the step of one batch. Only dense fields.
  void step(const ps::Batch& batch) { step(batch, stream_.handle()); }
  void step(const ps::Batch& batch, cudaStream_t stream);
  std::vector<Got> finish();

 private:
  GpuStream stream_;
  std::byte* memory_ = nullptr;
  std::size_t max_bytes_, used_ = 0;
  std::vector<std::pair<Got, std::size_t>> gots_;  // and where its bytes begin
};

/// All batches of the next `epochs` epochs, as a training loop takes them.
std::vector<Got> train(ps::Loader& loader, std::uint64_t epochs = 1);

/// Batches of a few ten thousand bytes, so that a copy takes its time.
ps::Pipeline wide_records(std::uint64_t count = 60);

}  // namespace help
