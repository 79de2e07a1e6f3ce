// SPDX-License-Identifier: Apache-2.0
// Photographs, and whether stages on a GPU make of them what they make on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

#include "cuda/gpu_help.hpp"
#include "support/test_images.hpp"

namespace help {

struct Photos {
  std::int32_t height = 67, width = 45, channels = 3;
  std::uint64_t count = 50;
  std::vector<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {height, width, channels}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (std::find(bad.begin(), bad.end(), i) != bad.end()) throw ps::Error(ps::Errc::corrupt, "a bad photo");
    const ps::ImageShape shape{height, width, channels};
    const penstock_test::Image image =
        i % 3 == 0 ? penstock_test::photo(shape, i) : penstock_test::static_noise(shape, i);
    std::copy(image.pixels.begin(), image.pixels.end(),
              out.emplace<std::uint8_t, 3>("image", {height, width, channels}).data());
  }
};

/// Photos whose sides are their own, and repeat.
struct SizedPhotos {
  std::vector<ps::Size> sizes;
  std::int32_t channels = 3;
  std::uint64_t count = 50;
  std::vector<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    return {{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, channels}, ps::Collate::ragged()}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (std::find(bad.begin(), bad.end(), i) != bad.end()) throw ps::Error(ps::Errc::corrupt, "a bad photo");
    const ps::Size size = sizes[i % sizes.size()];
    const penstock_test::Image image = penstock_test::static_noise({size.height, size.width, channels}, i);
    std::copy(image.pixels.begin(), image.pixels.end(),
              out.emplace<std::uint8_t, 3>("image", {size.height, size.width, channels}).data());
  }
};

/// Compares stages after batch on a GPU with those after it on the host, and before it.
template <class Source = Photos>
void check_on_gpu(const Source& photos, const std::function<ps::Pipeline(ps::Pipeline)>& stages,
                  std::uint64_t rows = 8) {
  INFO(photos.count << " photos of " << photos.channels << " channels");
  const ps::Pipeline source = ps::from(photos) | ps::shuffle({.seed = 4}) | ps::on_error({.policy = ps::OnError::mask});
  const ps::Pipeline after = stages(source | ps::batch(rows));
  const std::vector<Got> expected = collect(stages(source) | ps::batch(rows), {.threads = 2}, 2);
  CHECK(collect(after, {.threads = 2}, 2) == expected);
  std::size_t bytes = 0;
  for (const Got& batch : expected) bytes += batch.bytes.size();
  ps::Loader loader(after, {.device = ps::gpu(0), .threads = 2});
  GpuConsumer consumer(bytes);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
  CHECK(consumer.finish() == expected);
}

}  // namespace help
