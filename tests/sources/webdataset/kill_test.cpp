// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset_sink.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

#include "sources/killed_writer.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Job {
  bool sync;
  std::uint64_t max_samples, max_bytes;
  bool index;
};

WebDatasetSink sink_of(const std::string& path, const Job& job) {
  return WebDatasetSink({.path = path,
                         .max_samples = job.max_samples,
                         .max_bytes = job.max_bytes,
                         .job = "test",
                         .index = job.index,
                         .sync = job.sync});
}

}  // namespace

TEST_CASE("a writer of shards that is killed at any moment is continued, byte for byte") {
  std::mt19937_64 random(29);
  const std::vector<LabelledItem> items = shard_items(300, 12'000);
  for (const Job job : {Job{true, 10'000, 1u << 30, false}, Job{false, 37, 1u << 30, true},
                        Job{true, 1000, 150'000, true}, Job{false, 5, 1u << 30, false}}) {
    const TempFolder folder;
    const auto write_all = [&](const std::string& path, const WriterFate& fate) {
      WebDatasetSink sink = sink_of(path, job);
      write_and_tell(sink, items, fate);
    };
    const auto whole = time_of([&] { write_all(folder / "whole/t", {}); });
    const auto expected = files_in(folder / "whole");

    for (int round = 0; round < scaled_rounds(4); ++round) {
      const std::string path = folder / ("killed" + std::to_string(round));
      const auto write = [&](const WriterFate& fate) { write_all(path + "/t", fate); };
      kill_until_written(random, items.size(), whole, write, [&](Death, std::size_t committed) {
        if (!std::filesystem::exists(path)) return;
        auto there = files_in(path);
        const bool looks_finished = there.contains("t-000000.tar") && !there.contains("t.tar-unfinished.json");
        if (looks_finished) {
          there.erase(
              "t.tar-unfinished.json.lock");  // killed before it went after the mark; the next run takes it away
          CHECK(there == expected);
        } else {
          CHECK_THROWS_AS(WebDatasetSource({.path = path}), Error);
          // Nothing that was reported as committed is lost.
          WebDatasetSink sink = sink_of(path + "/t", job);
          sink.open({labelled_schema, items.size()});
          CHECK(had_by(sink, items) >= committed);
        }
      });
      REQUIRE(files_in(path) == expected);
    }
  }
}
