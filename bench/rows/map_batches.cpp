// SPDX-License-Identifier: Apache-2.0
// Measures what it costs to work on whole batches: a function of map_batches that does nothing, and mixup.
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Takes one epoch, and calls `work` for each batch.
template <class Work>
Timing time_batches(const Pipeline& pipeline, unsigned threads, Work work) {
  const Executor executor(threads);
  Loader loader(pipeline, {.threads = threads, .executor = executor, .depth = ring_depth, .epochs = 1});
  std::uint64_t samples = 0;
  const Stopwatch watch;
  for (Batch& batch : loader.epoch()) {
    work(batch);
    samples += batch.size();
  }
  if (samples != pipeline.size())
    throw std::runtime_error(fmt::format("the loader gave {} samples of {}", samples, pipeline.size()));
  return {static_cast<double>(samples) / watch.wall_s(), watch.cpu_s()};
}

// What mixup does, in a training loop.
void mix_by_hand(Batch& batch) {
  const auto images = batch.view<float, 4>("image");
  const std::size_t each = images.size() / batch.size();
  for (std::uint64_t row = 0; row + 1 < batch.size(); row += 2) {
    Rng rng(7, 1, {.epoch = batch.epoch(), .position = batch.number() * batch_rows + row});
    const auto share = static_cast<float>(rng.uniform()), rest = 1 - share;
    float* const a = images.data() + row * each;
    float* const b = a + each;
    for (std::size_t i = 0; i < each; ++i) {
      const float x = a[i], y = b[i];
      a[i] = share * x + rest * y;
      b[i] = share * y + rest * x;
    }
  }
}

}  // namespace

Row map_batches_vs_none(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  std::uint64_t mapped_round = 0, plain_round = 0;
  const Stage nothing = map_batches([](HostBatch&) {});
  Row row = compare(
      spec, settings,
      [&] { return time_batches(job.pipeline(++mapped_round) | nothing, settings.threads, [](Batch&) {}); },
      [&] { return time_batches(job.pipeline(++plain_round), settings.threads, [](Batch&) {}); });
  row.notes.push_back(job.store().description);
  return row;
}

Row mixup_vs_by_hand(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  std::uint64_t stage_round = 0, hand_round = 0;
  const Stage floats = normalize("image"), mixes = mixup({.fields = {"image"}, .alpha = 1});
  Row row = compare(
      spec, settings,
      [&] { return time_batches(job.pipeline(++stage_round, floats) | mixes, settings.threads, [](Batch&) {}); },
      [&] { return time_batches(job.pipeline(++hand_round, floats), settings.threads, mix_by_hand); });
  row.notes.push_back(job.store().description);
  return row;
}

}  // namespace penstock::bench
