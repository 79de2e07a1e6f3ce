// SPDX-License-Identifier: Apache-2.0
// A run that fills a cache on disk and is killed at any moment: what is there is right, and the next run goes on.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <penstock/sources/lmdb_cache.hpp>

#include "killed_records.hpp"
#include "kills.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// tokens: some numbers of the image's bytes; the image itself becomes their differences. Counts its calls.
struct Digest {
  std::shared_ptr<std::atomic<std::uint64_t>> calls = std::make_shared<std::atomic<std::uint64_t>>(0);
  Schema schema(const Schema& in) const { return in.with({"tokens", DType::i32, {dynamic}, Collate::ragged()}); }
  std::string name() const { return "digest"; }
  std::uint64_t version() const { return 1; }
  void operator()(Sample& sample, Context& context) const {
    ++*calls;
    const auto from = sample.view<const std::uint8_t, 1>("image").flat();
    auto tokens = sample.emplace<std::int32_t, 1>("tokens", {static_cast<std::int64_t>(context.index() % 7)});
    std::size_t i = 0;
    for (std::int32_t& token : tokens.flat()) token = 1000 * from[i++];
    auto to = sample.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(from.size())});
    std::uint8_t before = 0;
    std::size_t at = 0;
    for (std::uint8_t& byte : to.flat()) {
      byte = static_cast<std::uint8_t>(from[at] - before);
      before = from[at++];
    }
  }
};

Pipeline batches(const Pipeline& records) {
  return records | ragged("image") | shuffle({.seed = 4}) | Noise{} | batch(12);
}

std::string line_of(const Batch& batch) {
  std::ostringstream out;
  out << help::copy(batch);
  return out.str();
}

// All of one epoch.
std::vector<std::string> lines_of(const Pipeline& pipeline, std::uint64_t epoch_count = 1) {
  Loader loader(pipeline, {.threads = 2, .epochs = epoch_count});
  std::vector<std::string> lines;
  for (std::uint64_t e = 0; e < epoch_count; ++e)
    for (const Batch& batch : loader.epoch()) lines.push_back(line_of(batch));
  return lines;
}

// Epochs until nothing is made any more, of which the first two are told.
void run_with_cache() {
  const std::string folder = variable("PENSTOCK_KILLED_FOLDER");
  std::mt19937_64 random(std::stoull(variable("PENSTOCK_KILLED_NUMBER")));
  const LmdbCacheOptions options{.max_queue_bytes = 40'000 + random() % 200'000,
                                 .sync = variable("PENSTOCK_KILLED_VARIANT") == "0"};
  const unsigned threads = 1 + static_cast<unsigned>(random() % 4);
  const Digest digest;
  {
    const Pipeline pipeline = batches(read_lmdb(variable("PENSTOCK_KILLED_STORE")) | digest | cache(folder, options));
    Loader loader(pipeline, {.threads = threads});
    for (std::uint64_t epoch = 0;; ++epoch) {
      *digest.calls = 0;
      for (const Batch& batch : loader.epoch()) {
        if (epoch == 0 && batch.number() == 0) tell("begun");
        if (epoch < 2) tell("batch " + line_of(batch));
      }
      if (epoch >= 1 && *digest.calls == 0) break;
    }
    tell("closing");
  }
  tell("finished");
}

// What the cache in `folder` has, looked at in a copy, which is filled by this.
std::uint64_t right_records(const TempFolder& folder, const std::vector<std::string>& expected) {
  std::filesystem::remove_all(folder / "copy");
  std::filesystem::create_directory(folder / "copy");
  std::filesystem::copy_file(folder / "cache/data.mdb", folder / "copy/data.mdb");
  const Digest digest;
  const Pipeline begin = read_lmdb(folder / "from") | digest | cache(folder / "copy", {.sync = false});
  REQUIRE(lines_of(batches(begin)) == expected);
  const std::uint64_t made = *digest.calls;
  REQUIRE(made <= record_count);
  return record_count - made;
}

}  // namespace

TEST_CASE("a killed run with a cache leaves what is right in it and the next one goes on") {
  if (!variable("PENSTOCK_KILLED_STORE").empty()) return run_with_cache();
  const TempFolder folder;
  write_lmdb(folder / "from");
  const std::vector<std::string> expected = lines_of(batches(read_lmdb(folder / "from") | Digest{}), 2);
  const std::vector<std::string> first(expected.begin(),
                                       expected.begin() + static_cast<std::ptrdiff_t>(expected.size() / 2));
  Kills kills("run with a cache on disk, synced and not", {{"closing", "finished"}});
  std::uint64_t number = 0;
  const auto process_for = [&](const std::string& to, std::uint64_t variant) {
    return Child(this_program("a killed run with a cache leaves what is right in it and the next one goes on"),
                 {{"PENSTOCK_KILLED_STORE", folder / "from"},
                  {"PENSTOCK_KILLED_FOLDER", to},
                  {"PENSTOCK_KILLED_VARIANT", std::to_string(variant)},
                  {"PENSTOCK_KILLED_NUMBER", std::to_string(number++)}},
                 folder / "output");
  };
  const auto check_batches = [&](const Child& child) {
    std::size_t at = 0;
    for (const std::string& line : child.lines())
      if (line.starts_with("batch ")) {
        REQUIRE(at < expected.size());
        REQUIRE(line.substr(6) == expected[at++]);
      }
  };
  {
    Child child = process_for(folder / "whole", 0);
    kills.measure(child);
    check_batches(child);
  }
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    std::filesystem::remove_all(folder / "cache");
    std::uint64_t there = 0;
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child = process_for(folder / "cache", run % 2);
      finished = !kills.strike(child, died);
      if (!finished) ++died;
      check_batches(child);
      if (!std::filesystem::exists(folder / "cache/data.mdb")) continue;
      const std::uint64_t now = right_records(folder, first);
      INFO("after " << died << " kills, variant " << run % 2);
      REQUIRE(now >= there);
      there = now;
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(there == record_count);
    // A cache can be read as a data set.
    REQUIRE(lines_of(batches(from(Lmdb{.path = folder / "cache"}))) == first);
    kills.run_completed();
  }
  kills.check();
}
