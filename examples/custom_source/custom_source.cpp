// SPDX-License-Identifier: Apache-2.0
// Defines a source and a transform. They need no base class and no registration. They only have the members that the
// concepts penstock::Source and penstock::Transform require.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <penstock/penstock.hpp>

namespace ps = penstock;

// A source whose record i is a sine of i + 1 periods, computed when the record is read. `read` is const, because any
// thread may call it.
struct Sines {
  std::uint64_t size() const { return 500; }
  ps::Schema schema() const { return {{"wave", ps::DType::f32, {256}}, {"periods", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto wave = out.emplace<float, 1>("wave", {256});
    for (std::int64_t t = 0; t < 256; ++t)
      wave(t) = std::sin(6.2831853f * static_cast<float>(t * static_cast<std::int64_t>(i + 1)) / 256);
    out.scalar<std::int64_t>("periods", static_cast<std::int64_t>(i + 1));
  }
};

// A transform that adds noise, and a field that says how much noise. All random numbers come from the context, so every
// run gives the same bits.
struct AddNoise {
  float most;
  ps::Schema schema(const ps::Schema& in) const { return in.with({"noise", ps::DType::f32, {}}); }
  std::string name() const { return "add_noise"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    const auto amount = static_cast<float>(context.rng().uniform(0, most));
    for (float& v : sample.view<float, 1>("wave")) v += amount * static_cast<float>(context.rng().uniform(-1, 1));
    *sample.emplace<float, 0>("noise", {}).data() = amount;
  }
};

int main() {
  const auto pipeline =
      ps::from(Sines{}) | ps::shuffle() | AddNoise{.most = 0.1f} | ps::batch(32, {.tail = ps::Tail::drop});
  std::puts(pipeline.plan().c_str());
  ps::Loader loader(pipeline, {.epochs = 1});
  std::uint64_t rows = 0;
  bool right = true;
  for (ps::Batch& batch : loader.epoch()) {
    const auto noise = batch.view<const float, 1>("noise");
    for (std::int64_t row = 0; row < noise.extent(0); ++row, ++rows)
      right = right && noise(row) >= 0 && noise(row) < 0.1f;
  }
  std::printf("%llu rows\n", static_cast<unsigned long long>(rows));
  return right && rows == 480 ? 0 : 1;
}
