// SPDX-License-Identifier: Apache-2.0
// Trains a small network on JPEGs in one LMDB store, and tests it after each epoch on JPEGs in another:
//
//     train_lmdb TRAIN.lmdb TEST.lmdb [--epochs 8] [--threads N]
//
// `penstock pack` makes such stores from folders with one sub-folder per class.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "mlp.hpp"
#include "progress_bar.hpp"

namespace ps = penstock;

namespace {

constexpr std::int64_t side = 32;
constexpr std::size_t features = side * side * 3;

struct Options {
  std::string train, test;
  std::uint64_t epochs = 8;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

// Converts pixels to numbers around 0.
std::span<const float> features_of(const ps::Batch& batch, std::vector<float>& out) {
  const auto pixels = batch.view<const std::uint8_t, 4>("image").flat();
  out.resize(pixels.size());
  std::transform(pixels.begin(), pixels.end(), out.begin(),
                 [](std::uint8_t v) { return (static_cast<float>(v) - 127.5f) / 64.0f; });
  return out;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(const Options& options) {
  const ps::LmdbSource store(ps::Lmdb{.path = options.train});
  const ps::ClassNames names = store.schema().at("label").classes;
  const std::size_t classes = names.size();
  if (classes < 2) throw std::runtime_error(options.train + ": no classes; pack a folder with one sub-folder a class");

  // clang-format off
  const auto train = ps::from(store)
                   | ps::shuffle({.seed = 7})
                   | ps::decode_jpeg("image")
                   | ps::random_resized_crop("image", {side, side}, {.scale = {0.25, 1}})
                   | ps::random_flip("image")
                   | ps::batch(64);
  const auto test = ps::from(ps::map_classes(ps::Lmdb{.path = options.test}, "label", names))
                  | ps::decode_jpeg("image")
                  | ps::resize("image", {side, side})
                  | ps::batch(64);
  // clang-format on

  const ps::Executor executor(options.threads);  // both loaders share its threads
  ps::Loader training(train, {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = options.epochs});
  ps::Loader testing(test, {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = options.epochs});

  Mlp network(features, 64, classes);
  std::vector<float> numbers;
  double accuracy = 0, training_seconds = 0;
  std::printf("%llu images to train on, %llu held out, %zu classes, %u threads\n",
              static_cast<unsigned long long>(train.size()), static_cast<unsigned long long>(test.size()), classes,
              options.threads);
  std::printf("epoch    loss   accuracy   held out   images/s\n");
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const float rate = 0.01f * (epoch * 3 < options.epochs * 2 ? 1.0f : 0.2f);
    Mlp::Result sum;
    std::uint64_t seen = 0;
    const auto start = std::chrono::steady_clock::now();
    {
      ProgressBar bar("epoch " + std::to_string(epoch + 1), train.size());
      for (ps::Batch& batch : training.epoch()) {
        const auto labels = batch.view<const std::int64_t, 1>("label").flat();
        const Mlp::Result result = network.train(features_of(batch, numbers), labels, rate);
        sum.loss += result.loss;
        sum.right += result.right;
        bar.set(seen += labels.size());
      }
    }
    const double seconds = seconds_since(start);
    training_seconds += seconds;

    std::size_t right = 0;
    for (ps::Batch& batch : testing.epoch())
      right += network.test(features_of(batch, numbers), batch.view<const std::int64_t, 1>("label").flat()).right;
    accuracy = static_cast<double>(right) / static_cast<double>(test.size());
    std::printf("%5u  %6.3f   %7.1f %%  %7.1f %%  %9.0f\n", static_cast<unsigned>(epoch) + 1,
                sum.loss / static_cast<double>(seen),
                100.0 * static_cast<double>(sum.right) / static_cast<double>(seen), 100 * accuracy,
                static_cast<double>(seen) / seconds);
  }

  const ps::Report report = training.report();
  const double images_per_s = static_cast<double>(train.size() * options.epochs) / training_seconds;
  std::printf("\nWhat the training loader says:\n%s\n", report.text().c_str());
  if (report.limit_samples_per_s > 0)
    std::printf("%.0f images/s, %.0f %% of the %.0f that %u threads could make with nothing else to do\n", images_per_s,
                100 * images_per_s / report.limit_samples_per_s, report.limit_samples_per_s, report.threads);
  std::printf("held-out accuracy %.4f, chance %.4f\n", accuracy, 1.0 / static_cast<double>(classes));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> paths;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--epochs" && i + 1 < argc)
        options.epochs = std::stoul(argv[++i]);
      else if (word == "--threads" && i + 1 < argc)
        options.threads = static_cast<unsigned>(std::stoul(argv[++i]));
      else
        paths.push_back(word);
    }
    if (paths.size() != 2 || options.epochs == 0) {
      std::fprintf(stderr, "usage: train_lmdb TRAIN.lmdb TEST.lmdb [--epochs 8] [--threads N]\n");
      return 2;
    }
    options.train = paths[0];
    options.test = paths[1];
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_lmdb: %s\n", error.what());
    return 1;
  }
}
