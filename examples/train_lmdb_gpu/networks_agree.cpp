// SPDX-License-Identifier: Apache-2.0
// Checks that the networks on host and GPU are the same model: they must have the same loss and the same answers before
// and after a few steps. The exit status is 77 without a GPU, and 1 if the networks differ.
#include <cmath>
#include <cstdio>
#include <exception>

#include "network.hpp"

namespace ps = penstock;

namespace {

constexpr Sizes sizes{.features = 96, .hidden = 24, .classes = 5, .max_rows = 16};

// A source whose rows are around the centres of their classes.
struct Clouds {
  std::uint64_t size() const { return 200; }
  ps::Schema schema() const {
    return {{"image", ps::DType::f32, {static_cast<std::int64_t>(sizes.features)}}, {"label", ps::DType::i64, {}}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    ps::Rng rng(3, 0, ps::Place{.position = i});
    const std::uint64_t label = i % sizes.classes;
    std::uint64_t j = 0;
    for (float& v : out.emplace<float, 1>("image", {static_cast<std::int64_t>(sizes.features)}))
      v = (j++ % sizes.classes == label ? 0.5f : -0.1f) + static_cast<float>(rng.uniform(-1, 1));
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(label));
  }
};

struct Course {
  Network::Result before, training, after;
};

Course follow(Network& network) {
  ps::Loader loader(ps::from(Clouds{}) | ps::batch(sizes.max_rows), {.device = network.device(), .epochs = 3});
  Course course;
  for (const ps::Batch& batch : loader.epoch(network.stream())) network.test(batch);
  course.before = network.result();
  for (const ps::Batch& batch : loader.epoch(network.stream())) network.train(batch, 0.02f);
  course.training = network.result();
  for (const ps::Batch& batch : loader.epoch(network.stream())) network.test(batch);
  course.after = network.result();
  return course;
}

bool same(const char* what, const Network::Result& host, const Network::Result& gpu) {
  std::printf("%-10s loss %.6f on the host, %.6f on the GPU; right %llu and %llu of %llu\n", what, host.loss, gpu.loss,
              static_cast<unsigned long long>(host.right), static_cast<unsigned long long>(gpu.right),
              static_cast<unsigned long long>(host.rows));
  // A GPU adds in another order, so sums differ slightly, and a row near the border of two classes may get the other
  // class.
  return host.rows == gpu.rows && std::abs(host.loss - gpu.loss) < 1e-3 * host.loss &&
         std::abs(static_cast<double>(host.right) - static_cast<double>(gpu.right)) <= 1;
}

}  // namespace

int main() {
  constexpr int skipped = 77;
  try {
    const auto on_host = host_network(sizes);
    const Course host = follow(*on_host);
    if (host.after.loss > 0.9 * host.before.loss || host.before.rows != 200) {
      std::printf("the host's network learnt nothing: loss %f, then %f\n", host.before.loss, host.after.loss);
      return 1;
    }
    if (ps::best_device() == ps::host()) {
      std::printf("SKIPPED: %s\n", ps::device_support().c_str());
      return skipped;
    }
    bool agree = true;
    for (const MatrixProducts by : {MatrixProducts::cublas, MatrixProducts::plain_kernel}) {
      std::printf("%s:\n", by == MatrixProducts::cublas ? "cuBLAS, where it is found" : "the plain kernel");
      const auto on_gpu = gpu_network(sizes, by);
      const Course gpu = follow(*on_gpu);
      agree &= same("before", host.before, gpu.before) && same("training", host.training, gpu.training) &&
               same("after", host.after, gpu.after);
    }
    return agree ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "networks_agree: %s\n", error.what());
    return 1;
  }
}
