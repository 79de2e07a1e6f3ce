// SPDX-License-Identifier: Apache-2.0
// Changes of colour on a GPU: the host's bits.
#include "support/catch.hpp"

#include <penstock/transforms/image.hpp>

#include "cuda/gpu_photos.hpp"

using namespace help;

namespace {

ps::Stage color() {
  return ps::color_jitter("image", {.brightness = 0.5, .contrast = 0.5, .saturation = 0.5, .hue = 0.3});
}
ps::Stage stain() { return ps::stain_jitter("image", {.alpha = 0.3, .beta = 0.2}); }

}  // namespace

TEST_CASE("color_jitter and stain_jitter have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const auto with_color = [](const ps::Pipeline& p) { return p | color(); };
  const auto with_stain = [](const ps::Pipeline& p) { return p | stain(); };
  for (const auto& [height, width] : {std::pair{1, 1}, {67, 45}, {16, 32}, {1, 513}, {130, 121}}) {
    const Photos photos{.height = height, .width = width};
    check_on_gpu(photos, with_color);
    check_on_gpu(photos, with_stain);
    check_on_gpu({.height = height, .width = width, .channels = 1}, with_color);
  }
  check_on_gpu({}, [](const ps::Pipeline& p) { return p | color() | stain() | color(); });
}

TEST_CASE("every operation of color_jitter alone has the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const ps::ColorJitterOptions& options :
       {ps::ColorJitterOptions{.brightness = 3}, ps::ColorJitterOptions{.contrast = 3},
        ps::ColorJitterOptions{.saturation = 3}, ps::ColorJitterOptions{.hue = 0.5}, ps::ColorJitterOptions{}})
    check_on_gpu({}, [&](const ps::Pipeline& p) { return p | ps::color_jitter("image", options); });
}

TEST_CASE("colour changes on a GPU stand between folds and leave masked rows as zeros") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.bad = {0, 3, 4, 20, 49}};
  check_on_gpu(photos, [](const ps::Pipeline& p) {
    return p | ps::random_crop("image", {31, 29}) | color() | ps::random_flip("image") | stain() |
           ps::normalize("image", {.mean = {0.5}, .std = {0.2}, .dtype = ps::DType::f16});
  });
  check_on_gpu(photos, [](const ps::Pipeline& p) { return p | color(); });
  check_on_gpu(photos, [](const ps::Pipeline& p) { return p | stain(); });
}

TEST_CASE("colour changes of more images than a grid is high have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.height = 3, .width = 2, .count = 70'000};
  check_on_gpu(
      photos, [](const ps::Pipeline& p) { return p | stain() | color(); }, photos.count);
}

TEST_CASE("color_jitter of images of several blocks has the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.height = 513, .width = 700, .count = 12, .bad = {5}};
  check_on_gpu(photos, [](const ps::Pipeline& p) { return p | color(); });
  check_on_gpu({.height = 513, .width = 700, .channels = 1, .count = 12},
               [](const ps::Pipeline& p) { return p | color() | color(); });
}
