// SPDX-License-Identifier: Apache-2.0
// Trains one network with several processes. Each process loads its share of every batch:
//
//     mpirun -n 3 train_mpi [--epochs 3] [--batch 64] [--samples 1921] [--threads 1] [--environment]
//                           [--checkpoint FILE [--stop-after STEPS]] [--weights FILE] [--log FILE]
//
// With any number of processes, the batches are the same, and the weights are the same except for rounding of sums. A
// run that was stopped continues from its checkpoint, even with another number of processes.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "network.hpp"
#include "shapes.hpp"

namespace ps = penstock;

namespace {

struct Options {
  std::uint64_t epochs = 3, batch = 64, samples = 1921, stop_after = 0;
  unsigned threads = 1;
  bool environment = false;
  std::string checkpoint, weights, log;
};

struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--environment") {
      o.environment = true;
      continue;
    }
    if (i + 1 == argc) throw Usage(word + " needs a value, or is not known");
    const std::string value = argv[++i];
    if (word == "--epochs")
      o.epochs = std::stoull(value);
    else if (word == "--batch")
      o.batch = std::stoull(value);
    else if (word == "--samples")
      o.samples = std::stoull(value);
    else if (word == "--stop-after")
      o.stop_after = std::stoull(value);
    else if (word == "--threads")
      o.threads = static_cast<unsigned>(std::stoul(value));
    else if (word == "--checkpoint")
      o.checkpoint = value;
    else if (word == "--weights")
      o.weights = value;
    else if (word == "--log")
      o.log = value;
    else
      throw Usage(word + " is not known");
  }
  return o;
}

ps::Rank rank_of_mpi() {
  ps::Rank rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank.world);
  return rank;
}

// Writes a checkpoint: the loader's state in 64 bytes, then the numbers of the network. The file is complete or does
// not exist.
void save(const std::string& file, const ps::State& state, Network& network) {
  const std::string temporary = file + ".new";
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&state), sizeof state);
    for (const std::span<double> part : {network.values(), network.velocities()})
      out.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size_bytes()));
    if (!out.flush()) throw std::runtime_error(temporary + " can't be written");
  }
  std::filesystem::rename(temporary, file);
}
ps::State load(const std::string& file, Network& network) {
  ps::State state;
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(&state), sizeof state);
  for (const std::span<double> part : {network.values(), network.velocities()})
    in.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(part.size_bytes()));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    throw std::runtime_error(file + " is no checkpoint of this network");
  return state;
}

// The first process reads the checkpoint and sends it to all processes. Returns false if there is no checkpoint.
bool go_on(const std::string& file, const ps::Rank& rank, ps::Loader& loader, Network& network) {
  int exists = rank.rank == 0 && !file.empty() && std::filesystem::exists(file) ? 1 : 0;
  MPI_Bcast(&exists, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (exists == 0) return false;
  ps::State state;
  if (rank.rank == 0) state = load(file, network);
  MPI_Bcast(&state, sizeof state, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (const std::span<double> part : {network.values(), network.velocities()})
    MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  loader.resume(state);
  return true;
}

// Writes one line per step, with the records of all processes in order.
void log_batch(std::FILE* log, const ps::Batch& batch, const ps::Rank& rank) {
  const std::vector<unsigned long long> mine(batch.indices().begin(), batch.indices().end());
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(rank.world)), offsets(counts.size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  std::vector<unsigned long long> all(static_cast<std::size_t>(offsets.back() + counts.back()));
  MPI_Gatherv(mine.data(), count, MPI_UNSIGNED_LONG_LONG, all.data(), counts.data(), offsets.data(),
              MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  if (log == nullptr) return;
  std::fprintf(log, "%llu:%llu %llu rows:", static_cast<unsigned long long>(batch.epoch()),
               static_cast<unsigned long long>(batch.number()), static_cast<unsigned long long>(batch.global_size()));
  for (const unsigned long long index : all) std::fprintf(log, " %llu", index);
  std::fputc('\n', log);
}

struct File {
  explicit File(const std::string& name) : handle(name.empty() ? nullptr : std::fopen(name.c_str(), "w")) {
    if (!name.empty() && handle == nullptr) throw std::runtime_error(name + " can't be written");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (handle != nullptr) std::fclose(handle);
  }
  std::FILE* handle;
};

void train(const Options& options, const ps::Rank& rank) {
  constexpr std::size_t features = Shapes::side * Shapes::side;
  // clang-format off
  const auto pipeline = ps::from(Shapes{options.samples})
                      | ps::shuffle({.seed = 7})
                      | Brightness{}
                      | ps::batch(options.batch)  // the batch of all processes together
                      | ps::for_rank(rank);
  // clang-format on
  ps::Loader loader(pipeline, {.threads = options.threads, .epochs = options.epochs});
  Network network(features, 24, Shapes::classes);
  const bool first = rank.rank == 0;
  if (first) std::printf("%s", pipeline.plan().c_str());
  if (go_on(options.checkpoint, rank, loader, network) && first)
    std::printf("goes on at step %llu\n", static_cast<unsigned long long>(loader.state().step));

  const File log(first ? options.log : "");
  std::vector<double> x(features);
  bool stopped = false;
  while (!stopped && loader.epoch_number() < options.epochs) {
    const std::uint64_t epoch = loader.epoch_number();
    double sums[3] = {};  // loss, right, samples
    for (ps::Batch& batch : loader.epoch()) {
      const auto images = batch.view<const std::uint8_t, 3>("image");
      const auto labels = batch.view<const std::int64_t, 1>("label");
      const auto pixels = images.flat();
      for (std::size_t n = 0; n < batch.size(); ++n) {
        for (std::size_t i = 0; i < features; ++i) x[i] = (static_cast<double>(pixels[n * features + i]) - 100) / 60;
        const Network::Result result = network.add(x, labels(static_cast<std::int64_t>(n)));
        sums[0] += result.loss;
        sums[1] += result.right;
      }
      sums[2] += static_cast<double>(batch.size());
      // Every process takes part in every step, even if it has no row of the batch.
      MPI_Allreduce(MPI_IN_PLACE, network.gradients().data(), static_cast<int>(network.gradients().size()), MPI_DOUBLE,
                    MPI_SUM, MPI_COMM_WORLD);
      network.step(0.05, static_cast<double>(batch.global_size()));
      if (!options.log.empty()) log_batch(log.handle, batch, rank);
      if (loader.state().step == options.stop_after) {
        stopped = true;
        break;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (first)
      std::printf("epoch %llu: loss %.4f, accuracy %.4f of %.0f samples\n", static_cast<unsigned long long>(epoch),
                  sums[0] / std::max(sums[2], 1.0), sums[1] / std::max(sums[2], 1.0), sums[2]);
  }
  std::printf("rank %d of %d: %llu steps\n", rank.rank, rank.world,
              static_cast<unsigned long long>(loader.state().step));
  if (!first) return;
  if (!options.checkpoint.empty()) save(options.checkpoint, loader.state(), network);
  const File weights(options.weights);
  if (weights.handle != nullptr)
    for (const double w : network.values()) std::fprintf(weights.handle, "%.17g\n", w);
}

}  // namespace

int main(int argc, char** argv) {
  // The loader's threads don't call MPI.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    const Options options = parse(argc, argv);
    const ps::Rank mpi = rank_of_mpi();
    const ps::Rank rank = options.environment ? ps::Rank::from_environment() : mpi;
    if (rank.rank != mpi.rank || rank.world != mpi.world)
      throw std::runtime_error("the environment names another rank or world than MPI");
    train(options, rank);
  } catch (const std::exception& error) {
    // The other processes would wait for this process in their next step, so MPI ends them all.
    std::fprintf(stderr, "train_mpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, dynamic_cast<const Usage*>(&error) != nullptr ? 2 : 1);
  }
  MPI_Finalize();
}
