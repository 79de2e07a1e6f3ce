// SPDX-License-Identifier: Apache-2.0
#include "jpeg_job.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../pictures.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// A source with as many records as the store, whose pictures have the same size but no content.
struct Blank {
  std::uint64_t records;
  std::shared_ptr<const std::vector<std::byte>> pixels =
      std::make_shared<std::vector<std::byte>>(std::size_t{picture_size.height} * std::size_t{picture_size.width} * 3);
  std::uint64_t size() const { return records; }
  Schema schema() const { return {{"image", DType::u8, {picture_size.height, picture_size.width, 3}}}; }
  void read(std::uint64_t, SampleBuilder& out) const {
    out.view("image", pixels->data(), {picture_size.height, picture_size.width, 3});
  }
};

// These stages have the names of the real stages, so they draw the same numbers. They note what was drawn, and do
// almost no work.
struct NoteCrop {
  RandomResizedCrop real;
  Drawn* note;
  RandomResizedCrop::Params draw(const ImageShape& shape, Rng& rng) const {
    const auto params = real.draw(shape, rng);
    note->box = params.box;
    return params;
  }
  void compose(const RandomResizedCrop::Params&, const ImageShape&, ImageOp& op) const { op.crop({0, 0, 1, 1}); }
  Shape schema(const Shape& in) const { return {1, 1, in[2]}; }
  std::string name() const { return real.name(); }
};
struct NoteFlip {
  RandomFlip real{Flip::Axis::horizontal};
  Drawn* note;
  RandomFlip::Params draw(const ImageShape& shape, Rng& rng) const {
    const auto params = real.draw(shape, rng);
    note->flip = params.flip;
    return params;
  }
  void compose(const RandomFlip::Params&, const ImageShape&, ImageOp&) const {}
  std::string name() const { return real.name(); }
};

}  // namespace

JpegJob::JpegJob(Store store)
    : store_(std::move(store)),
      source_({.path = store_.folder.string(), .values = LmdbValues::raw}),
      plain_(store_.folder, false),
      ring_(row_bytes, batch_rows, ring_depth) {
  compare_bits();
}

Pipeline JpegJob::pipeline(std::uint64_t seed, const std::optional<Stage>& last, Decoder decoder) const {
  const Pipeline samples = from(source_) | shuffle({.seed = seed}) | decode_jpeg("image", {.decoder = decoder}) |
                           random_resized_crop("image", size) | random_flip("image");
  return (last ? samples | *last : samples) | batch(batch_rows);
}

JpegJob::Work JpegJob::work(std::uint64_t seed_value) const {
  Work work{order_of(pipeline(seed_value), 1), {}};
  Drawn note{};
  const Pipeline draws = from(Blank{.records = store_.records}) | seed(seed_value) |
                         image_stage("image", NoteCrop{RandomResizedCrop(size), &note}) |
                         image_stage("image", NoteFlip{.note = &note});
  for (std::uint64_t i = 0; i < store_.records; ++i) {
    draws.at(i);
    work.drawn.push_back(note);
  }
  return work;
}

Timing JpegJob::ours(unsigned threads, std::uint64_t seed, Decoder decoder) const {
  const Executor executor(threads);
  Timing timing = time_loader(pipeline(seed, std::nullopt, decoder), executor, threads);
  timing.value = static_cast<double>(store_.records) / timing.value;
  return timing;
}

Timing JpegJob::raw(unsigned threads, const Work& work, Decoder which) const {
  const auto decoder = jpeg_decoder({.decoder = which});
  Timing timing = raw_loop(threads, work.order.size(), [&] {
    return [&, reader = PlainReader(plain_), decoding = decoder->start(),
            scratch = std::make_unique<RawScratch>()](std::uint64_t ticket) {
      const Drawn& drawn = work.drawn[ticket];
      scratch->reset();
      ImageOp op(decoding->open(reader.get(work.order[ticket])));
      op.crop(drawn.box);
      op.resize(size);
      if (drawn.flip) op.flip_horizontal();
      const Pixels pixels = decoding->decode(op.box, false, nullptr, *scratch);
      image_executor().run(pixels, op, ring_.row(ticket), *scratch);
    };
  });
  timing.value = static_cast<double>(work.order.size()) / timing.value;
  return timing;
}

Timing JpegJob::raw(unsigned threads, std::uint64_t seed, Decoder decoder) const {
  return raw(threads, work(seed), decoder);
}

// Proves that both sides do the same work: compares the last batches of an epoch, which are still in the ring.
void JpegJob::compare_bits() const {
  constexpr std::uint64_t seed = 1234;
  Work work = this->work(seed);
  work.order.resize(batch_rows * 2);
  raw(1, work);
  Loader loader(pipeline(seed), {.threads = 1, .epochs = 1});
  for (std::uint64_t b = 0; b < 2; ++b) {
    const std::optional<Batch> ours = loader.next();
    const TensorView images = ours.value()["image"];
    if (std::memcmp(images.data, ring_.row(b * batch_rows), images.bytes()) != 0)
      throw std::runtime_error(fmt::format("batch {} of the JPEG job differs from that of the raw loop", b));
  }
}

}  // namespace penstock::bench
