// SPDX-License-Identifier: Apache-2.0
// Trains attention over bags of features (ABMIL). Only slides have labels, and only few tiles of a slide with a tumor
// show the tumor. A record is a slide, with the features of all its tiles.
//
//     train_bags FOLDER [--make N] [--epochs 12] [--threads T]
//
// FOLDER has a folder `features` with HDF5 files as FeatureSink and CLAM write them. It also has `cohort.csv` with the
// columns slide, patient and label; there are two labels. With --make, such a cohort of N slides is first made up in
// FOLDER.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include <penstock/penstock.hpp>
#include <penstock/sources/feature_bags.hpp>
#include <penstock/transforms/numeric.hpp>

#include "attention_pooling.hpp"
#include "cohort.hpp"

namespace ps = penstock;
namespace fs = std::filesystem;

namespace {

struct Options {
  fs::path folder;
  std::size_t make = 0;
  std::uint64_t epochs = 12;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

// Returns the features of one slide, without copying them from the batch.
std::span<const float> bag_of(const ps::Batch& batch, std::size_t row) {
  return batch.ragged("features")[row].as<const float, 2>().flat();
}
std::span<const std::int64_t> labels_of(const ps::Batch& batch) {
  return batch.view<const std::int64_t, 1>("label").flat();
}

// The mean of both classes' accuracies. A network that always predicts one class has 0.5, however rare the other class
// is.
class BalancedAccuracy {
 public:
  void add(std::int64_t label, bool right) {
    const auto which = static_cast<std::size_t>(label);
    ++all_.at(which);
    right_.at(which) += right ? 1 : 0;
  }
  double value() const {
    double sum = 0;
    for (std::size_t c = 0; c < 2; ++c)
      sum += static_cast<double>(right_[c]) / static_cast<double>(std::max<std::uint64_t>(all_[c], 1));
    return sum / 2;
  }
  std::uint64_t slides() const { return all_[0] + all_[1]; }

 private:
  std::array<std::uint64_t, 2> all_{}, right_{};
};

bool has_tissue(ps::View<const float, 2> features) { return features.extent(0) != 0; }

int run(const Options& options) {
  if (options.make != 0) Cohort(5).write(options.folder, options.make);
  const ps::Pipeline slides = ps::from(ps::FeatureBags{.path = (options.folder / "features").string(),
                                                       .coords = "",
                                                       .labels = (options.folder / "cohort.csv").string(),
                                                       .group = "patient"});
  // All slides of a patient are in the same part. Both parts have their share of each class.
  const auto part = [](std::uint64_t which) {
    return ps::split({.shares = {0.7, 0.3}, .part = which, .by = ps::SplitOptions::By::group, .stratify = "label"});
  };
  // clang-format off
  const auto train = slides
                   | part(0)
                   | ps::draw_balanced("label", {.seed = 7})
                   | ps::filter("features", has_tissue)
                   | ps::sample_rows({"features"}, 128)  // other rows in each epoch
                   | ps::cast("features", ps::DType::f32)
                   | ps::ragged("features")
                   | ps::batch(8);
  const auto held_out = slides
                      | part(1)
                      | ps::filter("features", has_tissue)
                      | ps::cast("features", ps::DType::f32)
                      | ps::ragged("features")
                      | ps::batch(8);
  // clang-format on
  std::printf("%s\n", train.plan().c_str());

  const ps::Executor executor(options.threads);  // both loaders share its threads
  ps::Loader training(train, {.executor = executor, .max_memory_bytes = ps::GiB(1), .epochs = options.epochs});
  ps::Loader testing(held_out, {.executor = executor, .max_memory_bytes = ps::GiB(1), .epochs = options.epochs});
  const std::int64_t dimension = slides.schema().at("features").shape[1];
  AttentionPooling network(static_cast<std::size_t>(dimension), 32, 16);
  BalancedAccuracy held;
  std::printf("epoch    loss   balanced accuracy held out\n");
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    double loss = 0;
    std::uint64_t seen = 0;
    for (ps::Batch& batch : training.epoch()) {
      for (std::size_t row = 0; row < batch.size(); ++row)
        loss += network.learn(bag_of(batch, row), labels_of(batch)[row]);
      network.step(0.002f);
      seen += batch.size();
    }
    held = {};
    for (ps::Batch& batch : testing.epoch())
      for (std::size_t row = 0; row < batch.size(); ++row) {
        const std::int64_t label = labels_of(batch)[row];
        held.add(label, (network.predict(bag_of(batch, row)) > 0.5) == (label == 1));
      }
    std::printf("%5u  %6.3f   %.3f\n", static_cast<unsigned>(epoch) + 1,
                loss / static_cast<double>(std::max<std::uint64_t>(seen, 1)), held.value());
  }
  std::printf("\nWhat the training loader says:\n%s\n", training.report().text().c_str());
  std::printf("held-out balanced accuracy %.4f of %llu slides, chance 0.5\n", held.value(),
              static_cast<unsigned long long>(held.slides()));
  if (options.make != 0 && held.value() < 0.9) {
    std::fprintf(stderr, "train_bags: that is too little for these slides: nothing was learnt\n");
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--make" && i + 1 < argc)
        options.make = std::stoull(argv[++i]);
      else if (word == "--epochs" && i + 1 < argc)
        options.epochs = std::stoull(argv[++i]);
      else if (word == "--threads" && i + 1 < argc)
        options.threads = static_cast<unsigned>(std::stoul(argv[++i]));
      else
        options.folder = word;
    }
    if (options.folder.empty() || options.epochs == 0) {
      std::fprintf(stderr, "usage: train_bags FOLDER [--make N] [--epochs 12] [--threads T]\n");
      return 2;
    }
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_bags: %s\n", error.what());
    return 1;
  }
}
