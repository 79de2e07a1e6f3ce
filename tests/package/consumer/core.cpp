// SPDX-License-Identifier: Apache-2.0
// A source and a transform of one's own, outside the library's tree: no base class, no registration.
#include <penstock/penstock.hpp>

#include <cmath>
#include <cstdio>

namespace ps = penstock;

struct Sine {
  std::uint64_t size() const { return 1000; }
  ps::Schema schema() const { return {{"x", ps::DType::f32, {64}}, {"y", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto x = out.emplace<float, 1>("x", {64});  // the sample's own place in the batch
    for (int k = 0; k < 64; ++k) x(k) = std::sin(0.01f * static_cast<float>(i) * static_cast<float>(k));
    out.scalar<std::int64_t>("y", static_cast<std::int64_t>(i % 10));
  }
};

struct Scale {
  float by;
  void operator()(ps::Sample& sample, ps::Context&) const {
    for (float& v : sample.view<float, 1>("x")) v *= by;
  }
};

int main() {
  const auto pipeline = ps::from(Sine{}) | ps::shuffle({.seed = 42}) | Scale{2.0f} | ps::batch(32);
  ps::Loader loader(pipeline, {.threads = 2});
  std::uint64_t rows = 0, wrong = 0;
  for (ps::Batch& batch : loader.epoch()) {
    const auto x = batch.view<float, 2>("x");
    const auto y = batch.view<std::int64_t, 1>("y");
    for (std::uint64_t r = 0; r < batch.size(); ++r, ++rows) {
      const auto i = batch.indices()[r];
      wrong += y(r) != static_cast<std::int64_t>(i % 10);
      for (int k = 0; k < 64; ++k)
        wrong += x(r, k) != 2 * std::sin(0.01f * static_cast<float>(i) * static_cast<float>(k));
    }
  }
  std::printf("penstock %d.%d.%d: %llu rows, %llu wrong\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR,
              PENSTOCK_VERSION_PATCH, static_cast<unsigned long long>(rows), static_cast<unsigned long long>(wrong));
  return rows == 1000 && wrong == 0 ? 0 : 1;
}
