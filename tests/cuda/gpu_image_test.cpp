// SPDX-License-Identifier: Apache-2.0
// Image stages that are one kernel on a GPU: the host's bits, whatever the images' sides, turns and margins are.
#include "support/catch.hpp"

#include <penstock/transforms/image.hpp>

#include "cuda/gpu_photos.hpp"

using namespace help;

namespace {

ps::Stage normal(ps::DType dtype, ps::Layout layout) {
  return ps::normalize("image", {.mean = {0.4}, .std = {0.25}, .dtype = dtype, .layout = layout});
}

}  // namespace

TEST_CASE("crops and turns and conversions of any width and channels have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const std::int32_t channels : {1, 2, 3, 4})
    for (const std::int32_t side : {1, 3, 8, 29, 32, 64}) {
      const Photos photos{.height = 67, .width = 71, .channels = channels, .count = 20};
      const auto moved = [&](const ps::Pipeline& p) {
        return p | ps::random_crop("image", {side, side}) | ps::random_flip("image") | ps::random_rot90("image");
      };
      check_on_gpu(photos, moved);
      check_on_gpu(photos, [&](const ps::Pipeline& p) { return moved(p) | normal(ps::DType::f16, ps::Layout::chw); });
      check_on_gpu(photos, [&](const ps::Pipeline& p) { return moved(p) | normal(ps::DType::f32, ps::Layout::hwc); });
    }
}

TEST_CASE("flipped rows have the host's bits on a GPU in every type and layout") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const std::int32_t width : {224, 225, 226, 227})
    for (const ps::DType dtype : {ps::DType::f16, ps::DType::bf16, ps::DType::f32})
      for (const ps::Layout layout : {ps::Layout::chw, ps::Layout::hwc}) {
        const Photos photos{.height = 40, .width = width, .count = 9};
        check_on_gpu(photos, [&](const ps::Pipeline& p) {
          return p | ps::random_flip("image") | ps::random_flip_vertical("image") | normal(dtype, layout);
        });
      }
}

TEST_CASE("margins of a crop have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const auto mode : {ps::Padding::Mode::constant, ps::Padding::Mode::reflect})
    for (const std::int32_t width : {24, 31}) {
      const Photos photos{.height = 33, .width = 35, .count = 40};
      check_on_gpu(photos, [&](const ps::Pipeline& p) {
        return p | ps::random_crop("image", {28, width}, {.padding = 9, .mode = mode, .fill = {7, 80, 200}}) |
               ps::random_flip("image") | normal(ps::DType::f16, ps::Layout::chw);
      });
    }
}

TEST_CASE("more images than a grid is deep have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.height = 3, .width = 4, .count = 70'000};
  check_on_gpu(
      photos,
      [](const ps::Pipeline& p) { return p | ps::random_flip("image") | normal(ps::DType::f32, ps::Layout::chw); },
      photos.count);
}
