// SPDX-License-Identifier: Apache-2.0
// Trains a small network on tiles whose labels come from a pathologist's annotations, and holds patients out. Trains
// once from the slides themselves, and once from stores into which the same tiles are cut. Tiles are copied as they are
// stored, so both trainings give the same bits.
//
//     train_regions 'slides/*.svs' COHORT.csv REGIONS FOLDER [--epochs 8] [--threads N]
//
// COHORT.csv has the columns slide and patient. REGIONS has a file of regions for each slide. Regions have one of two
// classes, or `Artifact` if the network must not learn from them. The program writes train.lmdb and test.lmdb into
// FOLDER.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../train_lmdb/mlp.hpp"
#include "pixels.hpp"

namespace ps = penstock;

namespace {

struct Options {
  std::string files, table, regions, folder;
  std::uint64_t epochs = 8;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

// The part for training, and the part that is held out.
struct Parts {
  ps::Pipeline train, test;
};

// Adds the stages for training, which are the same for tiles of slides and of stores.
ps::Pipeline for_training(const ps::Pipeline& tiles) {
  return tiles | ps::random_crop("image", {128, 128}) | ps::resize("image", {side, side}) | ps::random_flip("image") |
         ps::batch(32);
}
ps::Pipeline for_testing(const ps::Pipeline& tiles) {
  return tiles | ps::center_crop("image", {128, 128}) | ps::resize("image", {side, side}) | ps::batch(32);
}

// Returns the mean of both classes' accuracies. A network that always predicts one class has 0.5, however rare the
// other class is.
double balanced_accuracy(Mlp& network, ps::Loader& testing) {
  std::vector<float> numbers;
  std::uint64_t all[2] = {}, right[2] = {};
  for (ps::Batch& batch : testing.epoch()) {
    const std::span<const float> rows = features_of(batch, numbers);
    const auto labels = batch.view<const std::int64_t, 1>("region").flat();
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const auto label = static_cast<std::size_t>(labels[row]);
      ++all[label];
      right[label] += network.test(rows.subspan(row * features, features), labels.subspan(row, 1)).right;
    }
  }
  if (all[0] == 0 || all[1] == 0) throw std::runtime_error("no tile of one of the classes was held out");
  return (static_cast<double>(right[0]) / static_cast<double>(all[0]) +
          static_cast<double>(right[1]) / static_cast<double>(all[1])) /
         2;
}

void train(const std::string& from, const Parts& parts, const Options& options) {
  const ps::Executor executor(options.threads);
  ps::Loader training(for_training(parts.train),
                      {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = options.epochs});
  ps::Loader testing(for_testing(parts.test), {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = 1});
  Mlp network(features, 48, 2);
  std::vector<float> numbers;
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    double loss = 0;
    std::uint64_t seen = 0;
    for (ps::Batch& batch : training.epoch()) {
      loss +=
          network.train(features_of(batch, numbers), batch.view<const std::int64_t, 1>("region").flat(), 0.005f).loss;
      seen += batch.size();
    }
    std::printf("%s: epoch %u, %llu tiles, loss %.6f\n", from.c_str(), static_cast<unsigned>(epoch) + 1,
                static_cast<unsigned long long>(seen), loss / static_cast<double>(std::max<std::uint64_t>(seen, 1)));
  }
  std::printf("%s: held-out balanced accuracy %.4f of %llu tiles of other patients\n", from.c_str(),
              balanced_accuracy(network, testing), static_cast<unsigned long long>(parts.test.size()));
}

int run(const Options& options) {
  const ps::Pipeline tiles = ps::from(ps::Slides{.files = options.files,
                                                 .labels = options.table,
                                                 .slide_column = "slide",
                                                 .group = "patient",
                                                 .regions = {.folder = options.regions,
                                                             .include = {"Normal", "Tumor"},
                                                             .exclude = {"Artifact"},
                                                             .least = 0.75,
                                                             .field = "region"}});
  const auto part = [&](std::uint64_t which) {
    return tiles |
           ps::split({.shares = {0.7, 0.3}, .part = which, .by = ps::SplitOptions::By::group, .stratify = "region"}) |
           ps::select_fields({"image", "region"});
  };
  const ps::Stage balance = ps::draw_balanced("region", {.seed = 7});
  const Parts of_slides{part(0) | balance, part(1)};
  std::printf("%s\n", of_slides.train.plan().c_str());
  train("slides", of_slides, options);

  const auto cut = [&](std::uint64_t which, const std::string& name) {
    const std::string path = options.folder + "/" + name;
    ps::write(part(which) | ps::encode_jpeg("image", {.keep_stored = true}), ps::LmdbSink({.path = path}));
    return ps::from(ps::Lmdb{.path = path});
  };
  const ps::Pipeline train_store = cut(0, "train.lmdb"), test_store = cut(1, "test.lmdb");
  train("tiles", {train_store | balance | ps::decode_jpeg("image"), test_store | ps::decode_jpeg("image")}, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  try {
    for (int i = 1; i < argc; ++i) {
      std::string word = argv[i];
      if (word == "--epochs" && i + 1 < argc)
        options.epochs = std::stoul(argv[++i]);
      else if (word == "--threads" && i + 1 < argc)
        options.threads = static_cast<unsigned>(std::stoul(argv[++i]));
      else
        words.push_back(std::move(word));
    }
    if (words.size() != 4 || options.epochs == 0) {
      std::fprintf(stderr,
                   "usage: train_regions 'slides/*.svs' COHORT.csv REGIONS FOLDER [--epochs 8] [--threads N]\n");
      return 2;
    }
    options.files = words[0];
    options.table = words[1];
    options.regions = words[2];
    options.folder = words[3];
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_regions: %s\n", error.what());
    return 1;
  }
}
