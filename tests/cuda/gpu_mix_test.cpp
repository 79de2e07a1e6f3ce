// SPDX-License-Identifier: Apache-2.0
// mixup, cutmix and random_erasing on a GPU: the host's bits.
#include "support/catch.hpp"

#include <penstock/transforms/image.hpp>

#include "cuda/gpu_photos.hpp"

using namespace help;

namespace {

// The batches of a GPU are those of the host.
void check_batches(const ps::Pipeline& p) {
  const std::vector<Got> expected = collect(p, {.threads = 2}, 2);
  std::size_t bytes = 0;
  for (const Got& batch : expected) bytes += batch.bytes.size();
  ps::Loader loader(p, {.device = ps::gpu(0), .threads = 2});
  GpuConsumer consumer(bytes);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
  CHECK(consumer.finish() == expected);
}

ps::Pipeline floats(const Photos& photos, ps::DType dtype, ps::Layout layout) {
  return ps::from(photos) | ps::shuffle({.seed = 4}) | ps::on_error({.policy = ps::OnError::mask}) |
         ps::normalize("image", {.mean = {0.5}, .std = {0.2}, .dtype = dtype, .layout = layout});
}

}  // namespace

TEST_CASE("mixup and cutmix have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const ps::DType dtype : {ps::DType::f32, ps::DType::f16, ps::DType::bf16})
    for (const ps::Layout layout : {ps::Layout::chw, ps::Layout::hwc})
      for (const auto& [height, width] : {std::pair{67, 45}, {16, 32}, {5, 513}}) {
        const Photos photos{.height = height, .width = width, .bad = {0, 3, 4, 20, 49}};
        const ps::Pipeline batches = floats(photos, dtype, layout) | ps::batch(7, {.tail = ps::Tail::pad});
        check_batches(batches | ps::mixup({.fields = {"image"}, .alpha = 0.3}));
        check_batches(batches | ps::cutmix({.fields = {}, .layout = layout}));
        check_batches(batches | ps::cutmix({.fields = {}, .layout = layout}) | ps::mixup({.fields = {"image"}}));
      }
  const ps::Pipeline bytes = ps::from(Photos{}) | ps::batch(8);
  check_batches(bytes | ps::cutmix({.fields = {}, .layout = ps::Layout::hwc}));
}

TEST_CASE("mixup of more rows than a grid is high has the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.height = 3, .width = 2, .count = 70'000};
  check_batches(floats(photos, ps::DType::f32, ps::Layout::hwc) | ps::batch(photos.count) |
                ps::mixup({.fields = {"image"}, .alpha = 1}));
}

TEST_CASE("random_erasing has the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const auto& [height, width] : {std::pair{67, 45}, {5, 32}, {130, 121}}) {
    const Photos photos{.height = height, .width = width, .bad = {3}};
    check_on_gpu(photos, [](const ps::Pipeline& p) {
      return p | ps::random_erasing("image", {.probability = 0.8, .value = {1, 2, 3}, .layout = ps::Layout::hwc});
    });
    check_on_gpu(photos, [](const ps::Pipeline& p) {
      return p | ps::normalize("image", {.mean = {0.5}, .std = {0.2}, .dtype = ps::DType::f16}) |
             ps::random_erasing("image", {.value = {0.25}, .layout = ps::Layout::chw});
    });
  }
}
