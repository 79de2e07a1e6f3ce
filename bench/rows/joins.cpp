// SPDX-License-Identifier: Apache-2.0
// Rows of pipelines that are parts of a join, and of two views of one picture.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../raw_loop.hpp"
#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Pipeline stages(const Pipeline& pictures) {
  return pictures | decode_jpeg("image") | random_resized_crop("image", JpegJob::size) | random_flip("image");
}

// Returns the CPU microseconds per sample of one epoch.
Timing cpu_per_sample(const Pipeline& samples, const Executor& executor, std::uint64_t epoch_seed) {
  const Pipeline batches = samples | shuffle({.seed = epoch_seed}) | batch(batch_rows);
  Timing timing = time_loader(batches, executor, executor.threads());
  timing.value = timing.cpu_s / static_cast<double>(samples.size()) * 1e6;
  return timing;
}

}  // namespace

Row part_vs_plain(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  const Executor executor(settings.threads);
  const AnySource part = share(stages(from(job.source())));
  const auto timed = [&](const Pipeline& samples, std::uint64_t round) {
    Timing timing = time_loader(samples | shuffle({.seed = round}) | batch(batch_rows), executor, settings.threads);
    timing.value = static_cast<double>(samples.size()) / timing.value;
    return timing;
  };
  std::uint64_t part_round = 0, plain_round = 0;
  return compare(
      spec, settings, [&] { return timed(from(part), ++part_round); },
      [&] { return timed(stages(from(job.source())), ++plain_round); });
}

Row two_views(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  const Executor executor(settings.threads);
  const Pipeline pictures = from(job.source());
  const auto view = [](const Pipeline& p, const char* field) { return p | random_resized_crop(field, JpegJob::size); };
  const Pipeline one = view(pictures | decode_jpeg("image"), "image");
  const Pipeline two = view(view(pictures | decode_jpeg("image") | copy_field("image", "second"), "image"), "second");
  const Pipeline decoded_twice = view(
      view(pictures | copy_field("image", "second") | decode_jpeg("image"), "image") | decode_jpeg("second"), "second");
  std::uint64_t round = 0;
  std::vector<double> one_us, twice_us;
  Row row = compare(
      spec, settings,
      [&] {
        twice_us.push_back(cpu_per_sample(decoded_twice, executor, ++round).value);
        return cpu_per_sample(two, executor, ++round);
      },
      [&] {
        const Timing timing = cpu_per_sample(one, executor, ++round);
        one_us.push_back(timing.value);
        return timing;
      });
  row.notes.push_back(fmt::format("two decodes: {:.2f} x one view", median(twice_us) / median(one_us)));
  return row;
}

}  // namespace penstock::bench
