// SPDX-License-Identifier: Apache-2.0
// Whole pipelines of image stages: their batches are the same with every instruction set and on every processor.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <optional>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::uint64_t records = 37;

Memory images(std::int32_t channels) {
  const ImageShape shape{47, 61, channels};
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  for (std::uint64_t i = 0; i < records; ++i) {
    // Black among them: what is added to it by mistake shows at once.
    const Image image = i % 6 == 5 ? Image(shape) : i % 2 == 0 ? photo(shape, i) : static_noise(shape, i);
    pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
    labels.push_back(static_cast<std::int64_t>(i % 5));
  }
  Memory memory;
  memory.add<std::uint8_t>("image", {shape.height, shape.width, channels}, std::move(pixels));
  memory.add<std::int64_t>("label", {}, std::move(labels));
  return memory;
}

// Each image's own fit; those that have none are dropped.
Pipeline with_fits(const Pipeline& pipeline, StainMethod method) {
  return pipeline |
         map("image",
             [method](View<const std::uint8_t, 3> in, View<float, 1> out) {
               const std::vector<float> values = fit_stain(in, method).values();
               std::copy(values.begin(), values.end(), out.begin());
             },
             {.out = "stain", .shape = Shape{method == StainMethod::macenko ? 8 : 6}}) |
         on_error({.policy = OnError::drop});
}

std::array<Pipeline, 7> pipelines() {
  const auto begin = [](std::int32_t channels) { return from(images(channels)) | shuffle({.seed = 7}); };
  return {begin(3) | random_resized_crop("image", {24, 29}) | random_flip("image") | batch(8),
          begin(4) | resize_short("image", 33) | center_crop("image", {31, 32}) |
              normalize("image", {.mean = {0.485, 0.456, 0.406, 0.5}, .std = {0.229, 0.224, 0.225, 0.25}}) | batch(8),
          begin(1) | random_crop("image", {40, 41}, {.padding = 3}) | resize("image", {57, 19}) |
              normalize("image", {.mean = {0.5}, .std = {0.2}, .dtype = DType::f16}) | batch(8),
          begin(3) | resize("image", {32, 32}) |
              color_jitter("image", {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}) | batch(8),
          begin(3) | resize("image", {20, 70}) | stain_jitter("image", {.alpha = 0.3, .beta = 0.1}) | batch(8),
          with_fits(begin(3), StainMethod::macenko) | resize("image", {30, 41}) | normalize_stain("image") | batch(8),
          with_fits(begin(3), StainMethod::reinhard) | resize("image", {30, 41}) | normalize_stain("image") | batch(8)};
}

// Everything that a loader tells of two epochs: batches, indices, states; and the fingerprint.
std::uint64_t hash_of(const Pipeline& pipeline) {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> hash(XXH3_createState());
  XXH3_64bits_reset(hash.get());
  const auto add = [&](const void* data, std::size_t bytes) { XXH3_64bits_update(hash.get(), data, bytes); };
  Loader loader(pipeline, {.threads = 2});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Batch& batch : loader.epoch()) {
      for (const Field& field : batch.schema().fields()) {
        const TensorView rows = batch[field.name];
        add(rows.data, rows.bytes());
      }
      add(batch.indices().data(), batch.indices().size_bytes());
      const State state = loader.state();
      add(&state, sizeof state);
    }
  const std::uint64_t fingerprint = pipeline.fingerprint();
  add(&fingerprint, sizeof fingerprint);
  return XXH3_64bits_digest(hash.get());
}

}  // namespace

TEST_CASE("pipelines of images give the same batches with every instruction set") {
  const auto all = pipelines();
  std::array<std::optional<std::uint64_t>, 7> expected;
  on_every_target([&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      const std::uint64_t hash = hash_of(all[i]);
      if (!expected[i]) expected[i] = hash;
      CHECK(hash == *expected[i]);
    }
  });
}

// The hashes are for tests/arm, which compares processors.
TEST_CASE("hashes of pipelines of images", "[.hashes]") {
  for (const Pipeline& pipeline : pipelines())
    std::printf("hash %016llx\n", static_cast<unsigned long long>(hash_of(pipeline)));
}
