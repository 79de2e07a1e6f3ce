// SPDX-License-Identifier: Apache-2.0
// Images of any size that a GPU resamples: the host's bits.
#include "support/catch.hpp"

#include <penstock/transforms/image.hpp>

#include "cuda/gpu_photos.hpp"

using namespace help;

namespace {

// Larger and smaller than the results, slivers, and some that are shrunk more than fifteenfold.
const std::vector<ps::Size> any_sizes{{31, 47}, {9, 300},  {240, 7}, {1, 1},   {13, 13},  {2, 90},
                                      {64, 64}, {701, 33}, {11, 12}, {100, 3}, {57, 1400}};

}  // namespace

TEST_CASE("images of any size and channels are resampled to the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const std::int32_t channels : {1, 2, 3, 4})
    for (const ps::Size size :
         {ps::Size{16, 20}, ps::Size{1, 130}, ps::Size{70, 1}, ps::Size{64, 64}, ps::Size{9, 200}}) {
      const SizedPhotos photos{.sizes = any_sizes, .channels = channels, .bad = {3, 17}};
      check_on_gpu(photos, [&](const ps::Pipeline& p) { return p | ps::resize("image", size); });
      check_on_gpu(photos, [&](const ps::Pipeline& p) {
        return p | ps::random_resized_crop("image", size) | ps::random_flip("image") |
               ps::normalize("image", {.mean = {0.4}, .std = {0.3}, .dtype = ps::DType::f16});
      });
    }
}

TEST_CASE("turns and margins around a resample have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const auto mode : {ps::Padding::Mode::constant, ps::Padding::Mode::reflect}) {
    const SizedPhotos photos{.sizes = any_sizes, .bad = {3, 17}};
    check_on_gpu(photos, [&](const ps::Pipeline& p) {
      return p | ps::random_flip("image") | ps::resize("image", {40, 30}) |
             ps::random_crop("image", {33, 33}, {.padding = 9, .mode = mode}) | ps::random_rot90("image") |
             ps::random_flip_vertical("image");
    });
  }
}

TEST_CASE("large photographs are resampled to the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const SizedPhotos photos{.sizes = {{375, 500}, {500, 333}, {1200, 1600}, {4000, 3000}, {224, 224}}, .count = 24};
  const auto stages = [](const ps::Pipeline& p) {
    return p | ps::random_resized_crop("image", {224, 224}) | ps::random_flip("image") |
           ps::normalize("image", {.mean = {0.4}, .std = {0.3}, .dtype = ps::DType::f16});
  };
  check_on_gpu(photos, stages);
  check_on_gpu(photos, [](const ps::Pipeline& p) {
    return p | ps::resize_short("image", 224) | ps::center_crop("image", {224, 224});
  });
  // Photos of one size, where no table says where each begins.
  check_on_gpu(Photos{.height = 375, .width = 500, .count = 30}, stages);
}
