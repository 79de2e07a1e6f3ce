// SPDX-License-Identifier: Apache-2.0
// Trains a small network on PatchCamelyon, which has pairs of HDF5 files. One file has the patches `x`, u8 [N, 96, 96,
// 3], and the other the labels `y`, [N, 1, 1, 1].
//
//     train_pcam FOLDER [--make N] [--epochs 4] [--threads T]
//
// FOLDER has the files camelyonpatch_level_2_split_{train,valid}_{x,y}.h5. With --make, files of that layout are first
// written there: N made-up patches for training, and N / 5 for tests. If writing was interrupted, the next run
// continues it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/transforms/image.hpp>

#include "../train_lmdb/mlp.hpp"
#include "../train_lmdb/progress_bar.hpp"
#include "patches.hpp"

namespace ps = penstock;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t side = 24;  // side of the images that the network gets
constexpr std::size_t features = side * side * 3, classes = 2;

struct Options {
  fs::path folder;
  std::uint64_t make = 0, epochs = 4;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

std::string file_of(const fs::path& folder, const std::string& split, const std::string& field) {
  return (folder / ("camelyonpatch_level_2_split_" + split + "_" + field + ".h5")).string();
}

// Writes both files of a split. All threads compress chunks.
void make(const Options& options, const std::string& split, std::uint64_t count, std::uint64_t seed) {
  for (const std::string field : {"x", "y"}) {
    ProgressBar bar("writing " + split + " " + field, count);
    ps::WriteOptions write;
    write.threads = options.threads;
    write.progress = [&bar](const ps::WriteProgress& p) { bar.set(p.done); };
    ps::write(ps::from(Patches(count, seed)) | ps::select_fields({field}),
              ps::Hdf5Sink({.path = file_of(options.folder, split, field),
                            .single_file = true,
                            .fields = {{.field = field, .chunk_rows = field == "x" ? 32u : 4096u}}}),
              write);
  }
}

ps::Pipeline open(const fs::path& folder, const std::string& split) {
  return ps::from(
      ps::Hdf5{.path = file_of(folder, split, "x"),
               .fields = {{.dataset = "x", .name = "image"},
                          {.dataset = "y", .name = "label", .file = file_of(folder, split, "y"), .squeeze = true}}});
}

// Converts pixels to numbers around 0, and labels to i64.
struct Rows {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  void take(const ps::Batch& batch) {
    const auto bytes = batch.view<const std::uint8_t, 4>("image").flat();
    pixels.resize(bytes.size());
    std::transform(bytes.begin(), bytes.end(), pixels.begin(),
                   [](std::uint8_t v) { return (static_cast<float>(v) - 160.0f) / 64.0f; });
    const auto given = batch.view<const std::uint8_t, 1>("label").flat();
    labels.assign(given.begin(), given.end());
  }
};

int run(const Options& options) {
  if (options.make != 0) {
    fs::create_directories(options.folder);
    make(options, "train", options.make, 1);
    make(options, "valid", std::max<std::uint64_t>(options.make / 5, 64), 2);
  }
  // clang-format off
  const auto train = open(options.folder, "train")
                   | ps::shuffle({.seed = 7, .blocks = true})  // shuffles chunks, and the rows of several chunks
                   | ps::center_crop("image", {48, 48})
                   | ps::random_flip("image")
                   | ps::random_rot90("image")
                   | ps::resize("image", {side, side})
                   | ps::batch(64);
  const auto valid = open(options.folder, "valid")
                   | ps::center_crop("image", {48, 48})
                   | ps::resize("image", {side, side})
                   | ps::batch(64);
  // clang-format on
  std::printf("%s\n", train.plan().c_str());

  const ps::Executor executor(options.threads);  // both loaders share its threads
  ps::Loader training(train, {.executor = executor, .max_memory_bytes = ps::MiB(512), .epochs = options.epochs});
  ps::Loader testing(valid, {.executor = executor, .max_memory_bytes = ps::MiB(256), .epochs = options.epochs});
  Mlp network(features, 32, classes);
  Rows rows;
  double accuracy = 0;
  std::printf("epoch    loss   accuracy   held out   patches/s\n");
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    Mlp::Result sum;
    std::uint64_t seen = 0;
    const auto start = std::chrono::steady_clock::now();
    {
      ProgressBar bar("epoch " + std::to_string(epoch + 1), train.size());
      for (ps::Batch& batch : training.epoch()) {
        rows.take(batch);
        const Mlp::Result result = network.train(rows.pixels, rows.labels, 0.005f);
        sum.loss += result.loss;
        sum.right += result.right;
        bar.set(seen += rows.labels.size());
      }
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::size_t right = 0;
    for (ps::Batch& batch : testing.epoch()) {
      rows.take(batch);
      right += network.test(rows.pixels, rows.labels).right;
    }
    accuracy = static_cast<double>(right) / static_cast<double>(valid.size());
    std::printf("%5u  %6.3f   %7.1f %%  %7.1f %%  %10.0f\n", static_cast<unsigned>(epoch) + 1,
                sum.loss / static_cast<double>(seen),
                100.0 * static_cast<double>(sum.right) / static_cast<double>(seen), 100 * accuracy,
                static_cast<double>(seen) / seconds);
  }
  std::printf("\nWhat the training loader says:\n%s\n", training.report().text().c_str());
  std::printf("held-out accuracy %.4f, chance 0.5\n", accuracy);
  if (options.make != 0 && accuracy < 0.75) {
    std::fprintf(stderr, "train_pcam: that is too little for these patches: nothing was learnt\n");
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
      std::fprintf(stderr, "usage: train_pcam FOLDER [--make N] [--epochs 4] [--threads T]\n");
      return 2;
    }
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_pcam: %s\n", error.what());
    return 1;
  }
}
