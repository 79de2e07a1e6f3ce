// SPDX-License-Identifier: Apache-2.0
// Measures what boxes cost that follow the pictures of the JPEG job.
#include <array>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/numeric.hpp>

#include "../raw_loop.hpp"
#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Ten boxes and their classes for each record.
struct Boxes {
  static constexpr std::int64_t count = 10;
  std::uint64_t records;
  std::uint64_t size() const { return records; }
  Schema schema() const { return {{"boxes", DType::f32, {dynamic, 5}}, {"classes", DType::i64, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto boxes = out.emplace<float, 2>("boxes", {count, 5});
    const auto classes = out.emplace<std::int64_t, 1>("classes", {count});
    for (std::int64_t k = 0; k < count; ++k) {
      const auto corner = static_cast<float>((i + static_cast<std::uint64_t>(k) * 29) % 300);
      const std::array<float, 5> box{corner, corner, corner + 60, corner + 40, 1};
      for (std::int64_t c = 0; c < 5; ++c) boxes(k, c) = box[static_cast<std::size_t>(c)];
      classes(k) = k;
    }
  }
};

Pipeline with_boxes(const JpegJob& job, std::uint64_t seed) {
  const ImageFields fields{"image", boxes("boxes")};
  return from(zip({job.source(), Boxes{job.store().records}}, {.by = PairBy::position})) | shuffle({.seed = seed}) |
         decode_jpeg("image") | random_resized_crop(fields, JpegJob::size) | random_flip(fields) |
         drop_hidden({"boxes", "classes"}, {.least = 0.3}) | ragged("boxes") | ragged("classes") | batch(batch_rows);
}

}  // namespace

Row boxes_vs_none(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  const Executor executor(settings.threads);
  const auto timed = [&](const Pipeline& batches) {
    Timing timing = time_loader(batches, executor, settings.threads);
    timing.value = static_cast<double>(batches.size()) / timing.value;
    return timing;
  };
  std::uint64_t boxes_round = 0, plain_round = 0;
  Row row = compare(
      spec, settings, [&] { return timed(with_boxes(job, ++boxes_round)); },
      [&] { return timed(job.pipeline(++plain_round)); });
  row.notes.push_back(job.store().description);
  return row;
}

}  // namespace penstock::bench
