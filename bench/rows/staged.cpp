// SPDX-License-Identifier: Apache-2.0
// Measures what it costs to copy batches to an emulated device, whose copies the host does.
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/emulated_gpu.hpp>
#include <penstock/penstock.hpp>

#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Timing time_on_device(const Pipeline& pipeline, const EmulatedGpu& gpu, EmulatedGpu::Stream& stream, unsigned threads) {
  const Executor executor(threads);
  Loader loader(pipeline,
                {.device = gpu.device(), .threads = threads, .executor = executor, .depth = ring_depth, .epochs = 1});
  std::uint64_t samples = 0;
  const Stopwatch watch;
  for (const Batch& batch : loader.epoch(stream.ref())) samples += batch.size();
  stream.synchronize();
  const Timing timing{static_cast<double>(samples) / watch.wall_s(), watch.cpu_s()};
  const std::uint64_t copied = loader.report().copied_bytes;
  if (samples != pipeline.size() || copied != 0)
    throw std::runtime_error(fmt::format("the loader gave {} samples of {}, and copied {} bytes before their transfer",
                                         samples, pipeline.size(), copied));
  return timing;
}

}  // namespace

Row staged_vs_direct(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  EmulatedGpu gpu;
  EmulatedGpu::Stream stream = gpu.make_stream("consumer");
  std::uint64_t staged_round = 0, direct_round = 0;
  Row row = compare(
      spec, settings, [&] { return time_on_device(job.pipeline(++staged_round), gpu, stream, settings.threads); },
      [&] { return job.ours(settings.threads, ++direct_round); });
  row.notes.push_back(job.store().description);
  return row;
}

}  // namespace penstock::bench
