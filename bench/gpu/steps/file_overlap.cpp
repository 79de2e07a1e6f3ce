// SPDX-License-Identifier: Apache-2.0
// 4. Overlap with records from a file. The CPU checks, decodes and copies these records at its own pace, and uses the
// memory from which batches are copied to the GPU.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr std::uint64_t times_each = 5;  // how often each record is read in an epoch
constexpr double max_against_best_of_file = 1.05;

// Returns a folder in memory if there is enough room, because the disk is not to be measured.
std::filesystem::path roomy_folder(std::uintmax_t bytes) {
  std::error_code failed;
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::space_info room = std::filesystem::space(memory, failed);
  return !failed && room.available > 2 * bytes ? memory : std::filesystem::temp_directory_path();
}

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& in) {
    std::string name = (in / "penstock-gpu-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("can't make a folder in " + in.string());
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Rows that have their number at both ends, and random bytes between.
struct RandomRows {
  Stamped stamped;
  std::uint64_t size() const { return stamped.size(); }
  Schema schema() const { return stamped.schema(); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto row = out.emplace<std::uint8_t, 1>("x", {stamped.row_bytes});
    std::uint64_t state = i + 1;
    for (std::int64_t at = 0; at < stamped.row_bytes; at += sizeof state) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      std::memcpy(row.data() + at, &state, sizeof state);
    }
    stamped.stamp(i, row.data());
  }
};

}  // namespace

void overlap_of_file(Results& results, const Settings& settings) {
  const std::uint64_t steps = overlap_steps(settings);
  BatchSize size = overlap_batch(settings);
  size.records = steps * size.rows / times_each;
  const TemporaryFolder folder(roomy_folder(size.records * static_cast<std::uintmax_t>(size.row_bytes)));
  const std::string store = (folder.path() / "rows.lmdb").string();
  static_cast<void>(write(from(RandomRows{{.count = size.records, .row_bytes = size.row_bytes}}),
                          LmdbSink({.path = store, .sync = false})));

  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  Loader loader(from(Lmdb{.path = store}) | repeat(times_each) | batch(size.rows), {.device = gpu(0)});
  const auto epoch = [&](const Load* load) {
    return time_loader(loader, stream, size, load, wrong.as<unsigned long long>()).step_s;
  };
  static_cast<void>(epoch(nullptr));  // reads the file's pages into memory
  Load load(Load::Sort::gemm);
  load.take(epoch(nullptr), stream);
  Overlap measured;
  std::vector<double> alone, against_best;
  for (int round = 0; round < settings.rounds(); ++round) {
    settle();
    alone.push_back(epoch(nullptr));
    measure_round(measured, settings, size, load, stream, [&] { return epoch(&load); });
    const OverlapRound& last = measured.rounds.back();
    against_best.push_back(last.together / std::max(alone.back(), last.best_possible()));
  }

  auto& raw = results.raw()["overlap"]["records of a file"];
  raw = measured.raw();
  raw["loader_alone_s"] = alone;
  results.add({.name = "loader alone, records of a file",
               .ours = static_cast<double>(size.bytes()) / median_of(alone) / 1e9,
               .against = results.peak_pinned / 1e9,
               .unit = "GB/s"});
  results.add({.name = "step / best possible, GEMM, records of a file",
               .ours = 1e3 * measured.together_s(),
               .against = 1e3 * measured.together_s() / median_of(against_best),
               .ratio = median_of(against_best),
               .unit = "ms",
               .gate = Gate::at_most,
               .bound = max_against_best_of_file});
  tell_wrong_rows(results, "GEMM, records of a file", wrong);
}

}  // namespace penstock::gpu_bench
