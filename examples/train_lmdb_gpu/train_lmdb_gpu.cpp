// SPDX-License-Identifier: Apache-2.0
// Trains a small network on a GPU, on JPEGs in one LMDB store, and tests it after each epoch on JPEGs in another:
//
//     train_lmdb_gpu TRAIN.lmdb TEST.lmdb [--epochs 8] [--threads N]
//
// The CPU decodes and crops. Batches are copied to the GPU while the network is trained on earlier batches, and are
// flipped and normalised on the GPU. Without a GPU, the same loop trains the same network on the host. `penstock pack`
// makes such stores from folders with one sub-folder per class.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "network.hpp"

namespace ps = penstock;

namespace {

constexpr std::int64_t side = 32;
constexpr std::uint64_t rows = 64;

struct Options {
  std::string train, test;
  std::uint64_t epochs = 8;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

double percent(std::uint64_t part, std::uint64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

int run(const Options& options) {
  const ps::LmdbSource store(ps::Lmdb{.path = options.train});
  const ps::ClassNames names = store.schema().at("label").classes;
  const std::size_t classes = names.size();
  if (classes < 2) throw std::runtime_error(options.train + ": no classes; pack a folder with one sub-folder a class");
  const ps::NormalizeOptions normal{.mean = {0.5}, .std = {0.25}};

  // clang-format off
  const auto train = ps::from(store)
                   | ps::shuffle({.seed = 7})
                   | ps::decode_jpeg("image")
                   | ps::random_resized_crop("image", {side, side}, {.scale = {0.25, 1}})
                   | ps::batch(rows)
                   | ps::random_flip("image")       // after batch: on the device
                   | ps::normalize("image", normal);
  const auto test = ps::from(ps::map_classes(ps::Lmdb{.path = options.test}, "label", names))
                  | ps::decode_jpeg("image")
                  | ps::resize("image", {side, side})
                  | ps::batch(rows)
                  | ps::normalize("image", normal);
  // clang-format on

  const Sizes sizes{.features = side * side * 3, .hidden = 64, .classes = classes, .max_rows = rows};
  const bool on_host = ps::best_device() == ps::host();
  // Made before the loaders, so that it is destroyed after them, because they use its stream.
  const auto network = on_host ? host_network(sizes) : gpu_network(sizes);
  std::printf("%s; training on %s\n", ps::device_support().c_str(), ps::to_string(network->device()).c_str());

  const ps::Executor executor(options.threads);  // both loaders share its threads
  const ps::LoaderOptions how{.device = network->device(), .executor = executor, .epochs = options.epochs};
  ps::Loader training(train, how), testing(test, how);
  std::printf("%llu images to train on, %llu held out, %zu classes, %u threads\n",
              static_cast<unsigned long long>(train.size()), static_cast<unsigned long long>(test.size()), classes,
              options.threads);
  std::printf("epoch    loss   accuracy   held out   images/s\n");
  double accuracy = 0, busy_s = 0, training_s = 0;
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const float rate = 0.01f * (epoch * 3 < options.epochs * 2 ? 1.0f : 0.2f);
    const auto start = std::chrono::steady_clock::now();
    for (const ps::Batch& batch : training.epoch(network->stream())) network->train(batch, rate);
    const Network::Result fit = network->result();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    busy_s += fit.busy_s;
    training_s += took.count();

    for (const ps::Batch& batch : testing.epoch(network->stream())) network->test(batch);
    const Network::Result held_out = network->result();
    accuracy = percent(held_out.right, held_out.rows) / 100;
    std::printf("%5u  %6.3f   %7.1f %%  %7.1f %%  %9.0f\n", static_cast<unsigned>(epoch) + 1,
                fit.loss / static_cast<double>(fit.rows), percent(fit.right, fit.rows), 100 * accuracy,
                static_cast<double>(fit.rows) / took.count());
  }
  std::printf("\nWhat the training loader says:\n%s\n", training.report().text().c_str());
  if (!on_host) std::printf("the GPU worked on steps in %.1f %% of the training time\n", 100 * busy_s / training_s);
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
      std::fprintf(stderr, "usage: train_lmdb_gpu TRAIN.lmdb TEST.lmdb [--epochs 8] [--threads N]\n");
      return 2;
    }
    options.train = paths[0];
    options.test = paths[1];
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_lmdb_gpu: %s\n", error.what());
    return 1;
  }
}
