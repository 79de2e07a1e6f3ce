// SPDX-License-Identifier: Apache-2.0
// Trains one model on two devices. Each device has its part of every batch in its own memory. The mean gradient of a
// batch is the mean of the parts' gradients, weighted by their rows. The weights become the same as on one device that
// has whole batches.
//
//     two_devices [--emulated | --gpu] two GPUs if there are; two that the host emulates; GPUs or exit status 77
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "worker.hpp"

namespace ps = penstock;

namespace {

constexpr std::uint64_t epochs = 60;
constexpr float rate = 0.2f;

// A source of 45 records with y = 1 x0 - 2 x1 + 3 x2 - 4 x3. An epoch has four batches of 10 rows, in parts of 5 and 5,
// and a batch of 5 rows, in parts of 3 and 2.
struct Line {
  std::uint64_t size() const { return 45; }
  ps::Schema schema() const { return {{"x", ps::DType::f32, {inputs}}, {"y", ps::DType::f32, {}}}; }
  void read(std::uint64_t record, ps::SampleBuilder& out) const {
    ps::Rng rng(5, 0, ps::Place{.position = record});
    float y = 0, factor = 1;
    for (float& x : out.emplace<float, 1>("x", {inputs})) {
      x = static_cast<float>(rng.uniform(-1, 1));
      y += factor * x;
      factor = factor > 0 ? -factor - 1 : -factor + 1;
    }
    out.scalar<float>("y", y);
  }
};

void step(Numbers& weights, const Numbers& gradient) {
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradient[i];
}

Numbers train_on_one(const ps::Pipeline& pipeline) {
  Numbers weights = {};
  ps::Loader loader(pipeline, {.epochs = epochs});
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const ps::Batch& batch : loader.epoch()) {
      Numbers gradient;
      mean_gradient(batch.view<const float, 2>("x").data(), batch.view<const float, 1>("y").data(), batch.size(),
                    weights, gradient);
      step(weights, gradient);
    }
  return weights;
}

Numbers train_on_two(const ps::Pipeline& pipeline, std::vector<std::unique_ptr<Worker>>& workers, bool weigh) {
  Numbers weights = {};
  std::vector<ps::StreamRef> streams;
  ps::LoaderOptions options{.few_rows = ps::FewRows::empty, .epochs = epochs};
  for (const auto& worker : workers) {
    options.devices.push_back(worker->device());
    streams.push_back(worker->stream());
  }
  ps::Loader loader(pipeline, options);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    while (auto parts = loader.next_parts(streams)) {
      for (std::size_t d = 0; d < workers.size(); ++d)
        if ((*parts)[d].size() != 0) workers[d]->begin((*parts)[d], weights);
      Numbers sum = {};
      for (std::size_t d = 0; d < workers.size(); ++d) {
        const ps::Batch& part = (*parts)[d];
        if (part.size() == 0) continue;
        const Numbers mean = workers[d]->gradient();
        const float share = weigh ? static_cast<float>(part.size()) / static_cast<float>(part.global_size())
                                  : 1.0f / static_cast<float>(workers.size());
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share * mean[i];
      }
      step(weights, sum);
    }
  return weights;
}

float distance(const Numbers& a, const Numbers& b) {
  float most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

void tell(const char* what, const Numbers& weights) {
  std::printf("%-36s", what);
  for (const float w : weights) std::printf(" %9.5f", static_cast<double>(w));
  std::printf("\n");
}

int run(const std::string& word) {
  constexpr int skipped = 77;
  auto workers = two_workers(word == "--emulated");
  if (word == "--gpu" && workers[0]->device().kind != ps::Device::Kind::gpu) {
    std::printf("SKIPPED: two GPUs are wanted; here: %s\n", ps::device_support().c_str());
    return skipped;
  }
  // With noise, the weights depend on each step, so a wrong weighting of the parts would be seen.
  const auto noisy = [](ps::View<float, 0> y, ps::Context& context) {
    y() += static_cast<float>(context.rng().uniform(-1, 1));
  };
  const auto pipeline = ps::from(Line{}) | ps::shuffle({.seed = 7}) | ps::map("y", noisy) | ps::batch(10);
  const Numbers one = train_on_one(pipeline), two = train_on_two(pipeline, workers, true),
                unweighted = train_on_two(pipeline, workers, false);
  std::printf("on %s and %s\n", ps::to_string(workers[0]->device()).c_str(),
              ps::to_string(workers[1]->device()).c_str());
  tell("one device, whole batches", one);
  tell("two devices, weighted by rows", two);
  tell("two devices, as if they were equal", unweighted);
  return distance(one, two) < 1e-4f && distance(one, unweighted) > 1e-3f ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc == 2 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && word != "--emulated" && word != "--gpu")) {
    std::fprintf(stderr, "usage: two_devices [--emulated | --gpu]\n");
    return 2;
  }
  try {
    return run(word);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "two_devices: %s\n", error.what());
    return 1;
  }
}
