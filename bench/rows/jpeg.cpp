// SPDX-License-Identifier: Apache-2.0
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Row against_raw(const RowSpec& spec, const Settings& settings, bool noisy) {
  const JpegJob job(settings, noisy);
  std::uint64_t ours_round = 0, raw_round = 0;  // seeds of the rounds; both sides of a round make the same batches
  Row row = compare(
      spec, settings, [&] { return job.ours(settings.threads, ++ours_round); },
      [&] { return job.raw(settings.threads, ++raw_round); });
  row.notes.push_back(job.store().description);
  return row;
}

// -- the plain chain: each stage is a function that returns a new vector, as people often write stages --

struct PlainImage {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
  PlainImage(const ImageShape& s)
      : shape(s),
        pixels(static_cast<std::size_t>(s.height) * static_cast<std::size_t>(s.width) *
               static_cast<std::size_t>(s.channels)) {}
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.channels);
  }
  std::uint8_t* row(std::int32_t y) { return pixels.data() + static_cast<std::size_t>(y) * row_bytes(); }
  const std::uint8_t* row(std::int32_t y) const { return pixels.data() + static_cast<std::size_t>(y) * row_bytes(); }
  Pixels view() const { return {pixels.data(), static_cast<std::ptrdiff_t>(row_bytes()), shape}; }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(pixels.data()); }
};

// Gives the chain the library's working memory, so that allocating memory for a decoder does not slow it down.
RawScratch& working_memory() {
  thread_local RawScratch scratch;
  scratch.reset();
  return scratch;
}

PlainImage decode(std::span<const std::byte> encoded) {
  thread_local const std::unique_ptr<ImageDecoding> decoding = jpeg_decoder()->start();
  const ImageShape shape = decoding->open(encoded);
  PlainImage image(shape);
  decoding->decode({0, 0, shape.height, shape.width}, false, image.bytes(), working_memory());
  return image;
}

PlainImage crop(const PlainImage& in, const Box& box) {
  PlainImage out({box.height, box.width, in.shape.channels});
  for (std::int32_t y = 0; y < box.height; ++y)
    std::copy_n(in.row(box.top + y) + std::ptrdiff_t{box.left} * in.shape.channels, out.row_bytes(), out.row(y));
  return out;
}

PlainImage resize(const PlainImage& in, Size size) {
  PlainImage out({size.height, size.width, in.shape.channels});
  ImageOp op(in.shape);
  op.resize(size);
  image_executor().run(in.view(), op, out.bytes(), working_memory());
  return out;
}

PlainImage flip(const PlainImage& in) {
  PlainImage out(in.shape);
  ImageOp op(in.shape);
  op.flip_horizontal();
  image_executor().run(in.view(), op, out.bytes(), working_memory());
  return out;
}

std::vector<float> normalized(const PlainImage& in) {
  constexpr std::array<float, 4> mean{0.485f, 0.456f, 0.406f, 0}, std{0.229f, 0.224f, 0.225f, 1};
  ImageOp op(in.shape);
  std::array<float, 4> scale{}, bias{};
  for (std::size_t c = 0; c < 4; ++c) {
    scale[c] = 1 / (255 * std[c]);
    bias[c] = -mean[c] / std[c];
  }
  op.convert(DType::f32, Layout::chw, scale, bias);
  std::vector<float> out(in.pixels.size());
  image_executor().run(in.view(), op, reinterpret_cast<std::byte*>(out.data()), working_memory());
  return out;
}

Pipeline plain_chain(const JpegJob& job, std::uint64_t seed) {
  constexpr std::int64_t side = JpegJob::size.height;
  const RandomResizedCrop random_crop(JpegJob::size);
  const auto whole_chain = [random_crop](View<const std::uint8_t, 1> in, View<float, 3> out, Context& context) {
    const PlainImage decoded = decode(std::as_bytes(in.flat()));
    const PlainImage cropped = crop(decoded, random_crop.draw(decoded.shape, context.rng()).box);
    const PlainImage resized = resize(cropped, JpegJob::size);
    const std::vector<float> finished = normalized(context.rng().chance(0.5) ? flip(resized) : resized);
    std::copy(finished.begin(), finished.end(), out.begin());  // collate
  };
  return from(job.source()) | shuffle({.seed = seed}) |
         map("image", whole_chain, {.name = "plain_chain", .shape = Shape{3, side, side}}) | batch(batch_rows);
}

// Compares our job with a side that decodes with libjpeg.
Row against_job_on_libjpeg(const RowSpec& spec, const Settings& settings,
                           Timing (JpegJob::*side)(unsigned threads, std::uint64_t seed, JpegJob::Decoder) const) {
  const JpegJob job(settings, false);
  std::uint64_t ours_round = 0, libjpeg_round = 0;
  Row row = compare(
      spec, settings, [&] { return job.ours(settings.threads, ++ours_round); },
      [&] { return (job.*side)(settings.threads, ++libjpeg_round, JpegJob::Decoder::libjpeg); });
  row.notes.push_back(job.store().description);
  return row;
}

}  // namespace

Row jpeg_vs_raw(const RowSpec& spec, const Settings& settings) { return against_raw(spec, settings, false); }
Row jpeg_vs_raw_noisy(const RowSpec& spec, const Settings& settings) { return against_raw(spec, settings, true); }

Row jpeg_vs_raw_libjpeg(const RowSpec& spec, const Settings& settings) {
  return against_job_on_libjpeg(spec, settings, &JpegJob::raw);
}
Row jpeg_job_vs_libjpeg(const RowSpec& spec, const Settings& settings) {
  return against_job_on_libjpeg(spec, settings, &JpegJob::ours);
}

Row jpeg_vs_plain(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  std::uint64_t ours_round = 0, plain_round = 0;
  Row row = compare(
      spec, settings, [&] { return job.ours(settings.threads, ++ours_round); },
      [&] {
        const Executor executor(settings.threads);
        const Pipeline plain = plain_chain(job, ++plain_round);
        Timing timing = time_loader(plain, executor, settings.threads);
        timing.value = static_cast<double>(plain.size()) / timing.value;
        return timing;
      });
  row.notes.push_back(job.store().description);
  return row;
}

// Measures a reordered pipeline: it has a filter that keeps all samples. So each row is made in a place where it waits,
// and then copied into the batch.
Row reordered_vs_direct(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  std::uint64_t reordered_round = 0, direct_round = 0;
  Row row = compare(
      spec, settings,
      [&] {
        const Executor executor(settings.threads);
        const Pipeline reordered = job.pipeline(++reordered_round, filter([](const Sample&) { return true; }));
        Timing timing = time_loader(reordered, executor, settings.threads);
        timing.value = static_cast<double>(reordered.size()) / timing.value;
        return timing;
      },
      [&] { return job.ours(settings.threads, ++direct_round); });
  row.notes.push_back(job.store().description);
  return row;
}

Row threads_1_to_2(const RowSpec& spec, const Settings& settings) {
  const JpegJob job(settings, false);
  std::uint64_t ours_round = 0, raw_round = 0;
  const auto scaling = [](const auto& side, std::uint64_t seed) {
    const double one = side(1u, seed).value;
    return Timing{side(2u, seed).value / one, 0};
  };
  Row row = compare(
      spec, settings,
      [&] { return scaling([&](unsigned t, std::uint64_t s) { return job.ours(t, s); }, ++ours_round); },
      [&] { return scaling([&](unsigned t, std::uint64_t s) { return job.raw(t, s); }, ++raw_round); });
  row.notes.push_back(job.store().description);
  return row;
}

}  // namespace penstock::bench
