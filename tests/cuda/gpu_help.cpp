// SPDX-License-Identifier: Apache-2.0
#include "cuda/gpu_help.hpp"

#include <stdexcept>

#include <penstock/interop/cuda.hpp>
#include <penstock/stages/map.hpp>

namespace help {

void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw std::runtime_error(std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
}

GpuStream::GpuStream() { must(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
GpuStream::~GpuStream() {
  static_cast<void>(cudaStreamSynchronize(handle_));
  static_cast<void>(cudaStreamDestroy(handle_));
}
ps::StreamRef GpuStream::ref() const { return ps::stream_ref(handle_); }

GpuConsumer::GpuConsumer(std::size_t max_bytes) : max_bytes_(max_bytes) {
  void* memory = nullptr;
  must(cudaHostAlloc(&memory, max_bytes, cudaHostAllocDefault));
  memory_ = static_cast<std::byte*>(memory);
}
GpuConsumer::~GpuConsumer() {
  static_cast<void>(cudaStreamSynchronize(stream_.handle()));
  static_cast<void>(cudaFreeHost(memory_));
}

void GpuConsumer::step(const ps::Batch& batch, cudaStream_t stream) {
  Got got;
  got.epoch = batch.epoch();
  got.number = batch.number();
  got.indices.assign(batch.indices().begin(), batch.indices().end());
  got.mask.assign(batch.mask().begin(), batch.mask().end());
  const std::size_t begin = used_;
  for (const ps::Field& f : batch.schema()) {
    const ps::TensorView t = batch[f.name];
    if (used_ + t.bytes() > max_bytes_) throw std::runtime_error("the test's own memory is too small");
    must(cudaMemcpyAsync(memory_ + used_, t.data, t.bytes(), cudaMemcpyDeviceToHost, stream));
    used_ += t.bytes();
  }
  got.bytes.resize(used_ - begin);
  gots_.emplace_back(std::move(got), begin);
}

std::vector<Got> GpuConsumer::finish() {
  must(cudaDeviceSynchronize());
  std::vector<Got> out;
  for (auto& [got, begin] : gots_) {
    std::copy_n(memory_ + begin, got.bytes.size(), got.bytes.begin());
    out.push_back(std::move(got));
  }
  gots_.clear();
  used_ = 0;
  return out;
}

std::vector<Got> train(ps::Loader& loader, std::uint64_t epochs) {
  GpuConsumer consumer;
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
  return consumer.finish();
}

ps::Pipeline wide_records(std::uint64_t count) {
  return ps::from(Records{.count = count, .width = 2048}) | ps::shuffle() | ps::map(AddDraw{}) | ps::batch(4);
}

}  // namespace help
