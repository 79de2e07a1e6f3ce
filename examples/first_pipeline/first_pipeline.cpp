// SPDX-License-Identifier: Apache-2.0
// The smallest pipeline: it reads numbers from memory, shuffles them in each epoch, and makes batches of 64.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

namespace ps = penstock;

int main() {
  std::vector<float> values(1000 * 8);
  std::iota(values.begin(), values.end(), 0.0f);
  auto halve = [](ps::View<float, 1> x) {
    for (float& v : x) v /= 2;
  };

  // clang-format off
  auto pipeline = ps::from(ps::Memory().add<float>("x", {8}, std::move(values)))
                | ps::shuffle({.seed = 7})
                | ps::map("x", halve)
                | ps::batch(64);
  // clang-format on
  ps::Loader loader(pipeline, {.threads = 2, .epochs = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (ps::Batch& batch : loader.epoch())
      for (float v : batch.view<float, 2>("x")) sum += v;
    std::printf("epoch %d: %.0f\n", epoch, sum);
    if (sum != 15998000) return 1;  // half of 0 + 1 + ... + 7,999
  }
  std::puts(loader.report().text().c_str());
}
