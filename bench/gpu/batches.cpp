// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <chrono>
#include <thread>

#include <penstock/interop/cuda.hpp>

#include "kernels.hpp"

namespace penstock::gpu_bench {

Marks::Marks(std::size_t most) : own_(std::make_shared<Own>()) {
  own_->events.reserve(most);
  for (std::size_t i = 0; i < most; ++i) own_->events.emplace_back();
}

void Marks::run(BatchView, BatchView, StreamRef stream) const {
  if (own_->used < own_->events.size()) own_->events[own_->used++].record(cuda_stream(stream));
}

LoaderTime time_loader(Loader& loader, const CudaStream& stream, const BatchSize& size, const Load* load,
                       unsigned long long* wrong) {
  std::vector<CudaEvent> begins, ends;
  for (const Batch& batch : loader.epoch(stream.ref())) {
    begins.emplace_back().record(stream.handle());
    check_rows(stream.handle(), batch["x"].data, static_cast<std::size_t>(size.row_bytes), batch.size(),
               batch.number() * size.rows % size.records, wrong);
    if (load != nullptr) load->enqueue(stream.handle());
    ends.emplace_back().record(stream.handle());
  }
  stream.synchronize();
  double waited = 0;
  for (std::size_t i = warm_steps; i < ends.size(); ++i) waited += begins[i].since(ends[i - 1]);
  const double whole = ends.back().since(ends[warm_steps - 1]);
  return {whole / static_cast<double>(ends.size() - warm_steps), waited / whole};
}

void settle() {
  constexpr std::chrono::milliseconds submitters_need{30};
  std::this_thread::sleep_for(submitters_need);
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

double time_plain(const PlainLoop& loop, const BatchSize& size, std::uint64_t steps, const Load& load) {
  const std::size_t bytes = size.bytes();
  const Memory host(Kind::pinned, bytes), wrong(Kind::device, sizeof(unsigned long long));
  std::vector<std::unique_ptr<Memory>> device;
  std::vector<CudaEvent> copied, used;
  for (unsigned i = 0; i < loop.depth; ++i) {
    device.push_back(std::make_unique<Memory>(Kind::device, bytes));
    copied.emplace_back(false);
    used.emplace_back(false);
  }
  const CudaStream own, consumer(loop.on_legacy_stream);
  const cudaStream_t copies = loop.on_consumers_stream ? consumer.handle()
                              : loop.on_legacy_stream  ? cudaStreamLegacy
                                                       : own.handle();
  const CudaEvent begin, end;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::size_t slot = i % loop.depth;
    if (i >= loop.depth) used[slot].wait_on(copies);
    copy(device[slot]->data(), host.data(), bytes, copies);
    copied[slot].record(copies);
    copied[slot].wait_on(consumer.handle());
    // The loader's steps check the rows too. The count in `wrong` is ignored, because the rows have no numbers here.
    check_rows(consumer.handle(), device[slot]->data(), static_cast<std::size_t>(size.row_bytes), size.rows, 0,
               wrong.as<unsigned long long>());
    load.enqueue(consumer.handle());
    used[slot].record(consumer.handle());
    if (i + 1 == warm_steps) begin.record(consumer.handle());
  }
  end.record(consumer.handle());
  end.synchronize();
  return end.since(begin) / static_cast<double>(steps - warm_steps);
}

}  // namespace penstock::gpu_bench
