// SPDX-License-Identifier: Apache-2.0
// What the tests of devices share: a training loop's side, which puts its work on a stream and never waits for it.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include <penstock/emulated_gpu.hpp>

#include "core/help.hpp"

namespace help {

using Mode = ps::EmulatedGpuOptions::Mode;

/// Copies batches out on a stream of its own. What is copied is there after `finish`.
class DeviceConsumer {
 public:
  explicit DeviceConsumer(ps::EmulatedGpu& gpu, const char* name = "consumer") : stream_(gpu.make_stream(name)) {}

  ps::EmulatedGpu::Stream& stream() { return stream_; }
  ps::StreamRef ref() const { return stream_.ref(); }
  /// Enqueues the step of one batch. Only dense fields.
  void step(const ps::Batch& batch) { step(batch, stream_); }
  void step(const ps::Batch& batch, ps::EmulatedGpu::Stream& stream) {
    Got& got = gots_.emplace_back();
    got.epoch = batch.epoch();
    got.number = batch.number();
    got.indices.assign(batch.indices().begin(), batch.indices().end());
    got.mask.assign(batch.mask().begin(), batch.mask().end());
    std::size_t bytes = 0;
    for (const ps::Field& f : batch.schema()) bytes += batch[f.name].bytes();
    got.bytes.resize(bytes);
    std::byte* to = got.bytes.data();
    for (const ps::Field& f : batch.schema()) {
      const ps::TensorView t = batch[f.name];
      const std::byte* const from = t.data;
      const std::size_t count = t.bytes();
      if (count != 0) stream.launch("step", [=] { std::memcpy(to, from, count); }, {{from, count, false}});
      to += count;
    }
  }
  std::vector<Got> finish() {
    stream_.synchronize();
    std::vector<Got> out(std::make_move_iterator(gots_.begin()), std::make_move_iterator(gots_.end()));
    gots_.clear();
    return out;
  }

 private:
  std::deque<Got> gots_;  // written to by the stream, which ends first
  ps::EmulatedGpu::Stream stream_;
};

/// All batches of the next `epochs` epochs, as a training loop takes them.
inline std::vector<Got> train(ps::Loader& loader, ps::EmulatedGpu& gpu, std::uint64_t epochs = 1) {
  DeviceConsumer consumer(gpu);
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
  return consumer.finish();
}

}  // namespace help
