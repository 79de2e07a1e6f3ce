// SPDX-License-Identifier: Apache-2.0
// Trains a small network twice to distinguish tumor from benign tissue: on tiles that were cut into stores before, and
// on the slides themselves. Both trainings use the same tissue. Stores are read faster, and slides need no cutting.
//
//     train_slides TRAIN.lmdb TEST.lmdb 'train-*.svs' 'test-*.svs' COHORT.csv [--epochs 6] [--threads N]
//
// `penstock tile --tissue saturation --least-tissue 0.33` makes the stores from the slides, with the same table. So
// both have the same records in the same order, and both trainings give the same numbers.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../train_lmdb/mlp.hpp"
#include "pixels.hpp"

namespace ps = penstock;

namespace {

struct Options {
  std::vector<std::string> paths;
  std::uint64_t epochs = 6;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

// Adds the stages for training, which are the same for both kinds of tiles after decoding.
ps::Pipeline for_training(const ps::Pipeline& tiles) {
  return tiles | ps::random_crop("image", {128, 128}) | ps::resize("image", {side, side}) | ps::random_flip("image") |
         ps::batch(32);
}
ps::Pipeline for_testing(const ps::Pipeline& tiles) {
  return tiles | ps::center_crop("image", {128, 128}) | ps::resize("image", {side, side}) | ps::batch(32);
}

double accuracy_after(const std::string& of, const ps::Pipeline& train, const ps::Pipeline& test,
                      const Options& options) {
  const ps::Executor executor(options.threads);
  ps::Loader training(train, {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = options.epochs});
  ps::Loader testing(test, {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = 1});
  Mlp network(features, 48, 2);
  std::vector<float> numbers;
  const auto labels_of = [](const ps::Batch& batch) { return batch.view<const std::int64_t, 1>("kind").flat(); };
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    Mlp::Result sum;
    std::uint64_t seen = 0;
    for (ps::Batch& batch : training.epoch()) {
      const Mlp::Result result = network.train(features_of(batch, numbers), labels_of(batch), 0.005f);
      sum.loss += result.loss;
      seen += batch.size();
    }
    std::printf("%s: epoch %u, %llu pieces of tissue, loss %.3f\n", of.c_str(), static_cast<unsigned>(epoch) + 1,
                static_cast<unsigned long long>(seen),
                sum.loss / static_cast<double>(std::max<std::uint64_t>(seen, 1)));
  }
  std::uint64_t right = 0, seen = 0;
  for (ps::Batch& batch : testing.epoch()) {
    right += network.test(features_of(batch, numbers), labels_of(batch)).right;
    seen += batch.size();
  }
  if (seen == 0) throw std::runtime_error("no tissue was held out");
  const double accuracy = static_cast<double>(right) / static_cast<double>(seen);
  std::printf("%s: held-out accuracy %.3f of %llu pieces\n", of.c_str(), accuracy,
              static_cast<unsigned long long>(seen));
  return accuracy;
}

int run(const Options& options) {
  const auto of_store = [](const std::string& path) {
    return ps::from(ps::Lmdb{.path = path}) | ps::select_fields({"image", "kind"});
  };
  const auto of_slides = [&](const std::string& files) {
    return ps::from(ps::Slides{.files = files,
                               .labels = options.paths[4],
                               .columns = {"kind"},
                               .tissue = {.by = ps::SlideTissue::By::saturation, .least = 0.33}}) |
           ps::select_fields({"image", "kind"});
  };
  const ps::Stage mix = ps::shuffle({.seed = 7});
  accuracy_after("tiles", for_training(of_store(options.paths[0]) | mix | ps::decode_jpeg("image")),
                 for_testing(of_store(options.paths[1]) | ps::decode_jpeg("image")), options);
  accuracy_after("slides", for_training(of_slides(options.paths[2]) | mix), for_testing(of_slides(options.paths[3])),
                 options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--epochs" && i + 1 < argc)
        options.epochs = std::stoul(argv[++i]);
      else if (word == "--threads" && i + 1 < argc)
        options.threads = static_cast<unsigned>(std::stoul(argv[++i]));
      else
        options.paths.push_back(word);
    }
    if (options.paths.size() != 5 || options.epochs == 0) {
      std::fprintf(stderr,
                   "usage: train_slides TRAIN.lmdb TEST.lmdb 'train-*.svs' 'test-*.svs' COHORT.csv [--epochs 6] "
                   "[--threads N]\n");
      return 2;
    }
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_slides: %s\n", error.what());
    return 1;
  }
}
