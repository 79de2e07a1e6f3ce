// SPDX-License-Identifier: Apache-2.0
// A training run that is killed at any moment, and goes on from its last saved state.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "difference.hpp"
#include "killed_records.hpp"
#include "kills.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::uint64_t epochs = 3;
constexpr std::uint64_t bad_records = (record_count - 7 + 10) / 11;

// The log of a training run: a line for each batch, all that is needed to tell two batches apart.
class Log {
 public:
  // Keeps the first `lines` lines; what was written after them was not saved.
  Log(const std::string& file, std::uint64_t lines)
      : fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    const std::string text = file_text(file);
    std::size_t end = 0;
    for (std::uint64_t line = 0; line < lines; ++line) {
      end = text.find('\n', end) + 1;
      if (end == 0) throw std::runtime_error("the state is ahead of the batches that were delivered");
    }
    if (fd_ < 0 || ::ftruncate(fd_, static_cast<off_t>(end)) != 0) throw std::runtime_error("no log");
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { ::close(fd_); }

  void add(const Batch& batch) const {
    std::ostringstream out;
    out << help::copy(batch) << "\n";
    const std::string line = out.str();
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) throw std::runtime_error("no log");
  }

 private:
  int fd_;
};

// One process of a training run, from the saved state, or the beginning, to the end of the last epoch.
void train(const Pipeline& pipeline) {
  const std::string folder = variable("PENSTOCK_KILLED_FOLDER"), state = folder + "/state";
  const std::uint64_t number = std::stoull(variable("PENSTOCK_KILLED_NUMBER"));
  std::mt19937_64 random(number);
  LoaderOptions options{.threads = 1, .epochs = epochs};
  if (number != 0) {  // what must not matter
    options.threads = 1 + static_cast<unsigned>(random() % 4);
    options.depth = 2 + static_cast<unsigned>(random() % 4);
    options.max_reorder_bytes = random() % 20'000;
  }
  Loader loader(pipeline, options);
  std::optional<State> saved;
  if (std::filesystem::exists(state)) {
    saved = load_state(state);
    loader.resume(*saved);
  }
  const Log log(folder + "/log", saved ? saved->step : 0);

  const auto save = [&] {
    tell("saving");
    save_state(loader.state(), state);
    tell("saved");
  };
  bool begun = false;
  const auto step = [&](const Batch& batch) {
    if (!begun) tell("begun");
    begun = true;
    log.add(batch);
    if (random() % 4 == 0) save();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  };
  const bool by_next = random() % 2 == 0;
  while (loader.epoch_number() < epochs) {
    if (by_next) {
      while (const std::optional<Batch> batch = loader.next()) step(*batch);
    } else {
      for (const Batch& batch : loader.epoch()) step(batch);
    }
    if (random() % 2 == 0) save();  // between two epochs
  }
  if (!begun) tell("begun");
  save_state(loader.state(), folder + "/last");
  tell("finished");
}

// Batches of each epoch, as the log has them.
std::string epoch_of(const std::string& log, std::uint64_t epoch) {
  std::string found, line;
  const std::string begin = "batch " + std::to_string(epoch) + ":";
  for (std::istringstream in(log); std::getline(in, line);)
    if (line.starts_with(begin)) found += line.substr(begin.size()) + "\n";
  return found;
}

// `pipeline` runs in other processes, each of which is this TEST_CASE again.
void kill_training(const std::string& what, const std::string& test_case, const TempFolder& folder) {
  Kills kills(what, {{"saving", "saved"}});
  std::uint64_t number = 0;
  const auto process_in = [&](const std::string& run) {
    return Child(this_program(test_case),
                 {{"PENSTOCK_KILLED_STORE", folder / "store"},
                  {"PENSTOCK_KILLED_FOLDER", run},
                  {"PENSTOCK_KILLED_NUMBER", std::to_string(number++)}},
                 folder / "output");
  };

  const std::string whole = folder / "whole";
  std::filesystem::create_directory(whole);
  Child first = process_in(whole);
  kills.measure(first);
  const std::string expected = file_text(whole + "/log");
  CHECK(std::ranges::count(expected, '\n') > 60);
  CHECK(epoch_of(expected, epochs - 1) != epoch_of(expected, 0));
  CHECK(epoch_of(expected, epochs).empty());

  const std::string run = folder / "killed";
  while (!kills.enough()) {
    std::filesystem::remove_all(run);
    std::filesystem::create_directory(run);
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child = process_in(run);
      finished = !kills.strike(child, died);
      if (!finished) ++died;
      // A state is whole at any moment.
      if (std::filesystem::exists(run + "/state")) CHECK_NOTHROW(load_state(run + "/state"));
    }
    INFO("after " << died << " kills");
    REQUIRE(difference(file_text(run + "/log"), expected) == "");
    REQUIRE(load_state(run + "/last") == load_state(whole + "/last"));
    kills.run_completed();
  }
  kills.check();
}

bool is_child() { return !variable("PENSTOCK_KILLED_STORE").empty(); }
std::string store() { return variable("PENSTOCK_KILLED_STORE"); }

}  // namespace

TEST_CASE("a killed consumer of an LMDB store goes on at the very batch") {
  // One bad sample more, as by counting one twice, would end the run.
  if (is_child())
    return train(read_lmdb(store()) | seed(5) | shuffle() | repeat(2) | Cut{} |
                 on_error({.policy = OnError::replace, .max_count = 2 * epochs * bad_records}) | batch(8));
  const TempFolder folder;
  write_lmdb(folder / "store");
  // Open all the time, as by other jobs: no process finds the lock file unused, and the dead stand in it.
  const LmdbSource open({.path = folder / "store"});
  kill_training("consumer: LMDB, shuffle, repeat, draws, bad samples replaced",
                "a killed consumer of an LMDB store goes on at the very batch", folder);
}

TEST_CASE("a killed consumer of shards with filter and flat_map goes on at the very batch") {
  if (is_child())
    return train(read_shards(store()) | seed(6) | shuffle({.blocks = true, .window_blocks = 3}) | Cut{} |
                 filter([](const Sample&, Context& context) { return context.rng().chance(0.8); }) | Copies{} |
                 on_error({.policy = OnError::drop, .max_count = epochs * bad_records}) | batch(8));
  const TempFolder folder;
  write_shards(folder / "store");
  kill_training("consumer: WebDataset, shuffle of shards, draws, filter, flat_map, bad samples dropped",
                "a killed consumer of shards with filter and flat_map goes on at the very batch", folder);
}

TEST_CASE("a killed consumer of buckets goes on at the very batch") {
  if (is_child())
    return train(read_lmdb(store()) | seed(7) | shuffle() | repeat(2) | CutToAnyLength{} | ragged("image") |
                 pad("tokens") | bucket("tokens", {.window = 64}) | batch(8));
  const TempFolder folder;
  write_lmdb(folder / "store");
  kill_training("consumer: LMDB, shuffle, repeat, draws, ragged, pad, bucket",
                "a killed consumer of buckets goes on at the very batch", folder);
}

}  // namespace PENSTOCK_TEST_FILE
