// SPDX-License-Identifier: Apache-2.0
// Trains a LibTorch network on Penstock's batches, which LibTorch uses as tensors without copying them:
//
//     train_libtorch [EPOCHS]
//
// The network learns to distinguish pictures of discs, squares and crosses. Pictures are bytes until `batch`, and are
// flipped, jittered and normalised after it. The first layer reads the loader's memory directly. The exit status is 1
// if fewer than 9 of 10 new pictures are recognised.
#include <torch/torch.h>

#include <ATen/DLConvertor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <penstock/interop/dlpack.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

namespace ps = penstock;

namespace {

constexpr std::int64_t side = 20;

// A source of pictures. Record i is always the same picture.
struct Shapes {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {side, side, 3}}, {"label", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    ps::Rng rng(1, 1, ps::Place{0, first + i, 0, 0});
    const auto label = static_cast<std::int64_t>(rng.below(3));
    const double x = rng.uniform(7, 13), y = rng.uniform(7, 13), radius = rng.uniform(4, 6);
    const auto image = out.emplace<std::uint8_t, 3>("image", {side, side, 3});
    for (std::int64_t row = 0; row < side; ++row)
      for (std::int64_t column = 0; column < side; ++column) {
        const double dx = std::abs(static_cast<double>(column) - x), dy = std::abs(static_cast<double>(row) - y);
        const bool inside = label == 0   ? std::hypot(dx, dy) < radius
                            : label == 1 ? std::max(dx, dy) < radius
                                         : std::min(dx, dy) < 1.2 && std::max(dx, dy) < radius;
        for (std::int64_t c = 0; c < 3; ++c)
          image(row, column, c) = static_cast<std::uint8_t>(rng.uniform(0, 60) + (inside ? 180 : 0));
      }
    out.scalar<std::int64_t>("label", label);
  }
};

ps::Pipeline batches(const ps::Pipeline& pictures) {
  return pictures | ps::batch(64) | ps::random_flip("image") |
         ps::color_jitter("image", {.brightness = 0.3, .contrast = 0.3, .saturation = 0.3, .hue = 0.1}) |
         ps::normalize("image", {.mean = {0.3}, .std = {0.3}});
}

// Returns a tensor that uses the batch's memory. It keeps the batch's lease until LibTorch no longer needs the memory.
// On a GPU, also pass the stream that LibTorch works on, `ps::stream_ref(at::cuda::getCurrentCUDAStream())`. Then the
// stream waits for the batch, and the batch's memory is reused only after the stream's work.
torch::Tensor tensor_of(const ps::dlpack::Exporter& batch, const char* field) {
  return at::fromDLPack(reinterpret_cast<DLManagedTensor*>(batch.to_unversioned(field)));
}

int train(std::uint64_t epochs) {
  torch::manual_seed(1);
  torch::nn::Sequential network(torch::nn::Flatten(), torch::nn::Linear(3 * side * side, 64), torch::nn::ReLU(),
                                torch::nn::Linear(64, 3));
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(2e-3));

  ps::Loader loader(batches(ps::from(Shapes{.count = 6000}) | ps::shuffle({.seed = 7})), {.threads = 2});
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0, steps = 0;
    for (ps::Batch& leased : loader.epoch()) {
      const void* const memory = leased["image"].data;
      const ps::dlpack::Exporter batch(std::move(leased));
      const torch::Tensor image = tensor_of(batch, "image"), label = tensor_of(batch, "label");
      TORCH_CHECK(image.data_ptr() == memory, "the batch was copied");
      optimizer.zero_grad();
      const torch::Tensor loss = torch::nn::functional::cross_entropy(network->forward(image), label);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++steps;
    }
    std::printf("epoch %d: loss %.4f\n", static_cast<int>(epoch), sum / steps);
  }

  const torch::NoGradGuard no_gradients;
  ps::Loader unseen(batches(ps::from(Shapes{.count = 1000, .first = 1'000'000})), {.threads = 2});
  std::int64_t right = 0, all = 0;
  for (ps::Batch& leased : unseen.epoch()) {
    const ps::dlpack::Exporter batch(std::move(leased));
    const torch::Tensor label = tensor_of(batch, "label");
    right += network->forward(tensor_of(batch, "image")).argmax(1).eq(label).sum().item<std::int64_t>();
    all += label.size(0);
  }
  std::printf("%d of %d new pictures recognised\n", static_cast<int>(right), static_cast<int>(all));
  return 10 * right >= 9 * all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return train(argc > 1 ? std::stoull(argv[1]) : 3);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
