// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/files_sink.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <penstock/sources/files.hpp>

#include "sources/files/sink_checks.hpp"
#include "sources/killed_writer.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("a writer of files that is killed at any moment is continued, byte for byte") {
  std::mt19937_64 random(31);
  const std::vector<LabelledItem> items = file_items(300, 12'000);
  std::uint64_t died[3] = {}, in_a_commit = 0;
  for (const bool sync : {true, false}) {
    const TempFolder folder;
    const auto write_all = [&](const std::string& path, const WriterFate& fate) {
      FilesSink sink({.path = path, .job = "test", .sync = sync});
      write_and_tell(sink, items, fate);
    };
    const auto whole = time_of([&] { write_all(folder / "whole", {}); });
    const auto expected = tree_of(folder / "whole");

    for (int round = 0; round < scaled_rounds(30); ++round) {
      const std::string path = folder / ("killed" + std::to_string(round));
      const auto write = [&](const WriterFate& fate) { write_all(path, fate); };
      kill_until_written(random, items.size(), whole, write, [&](Death death, std::size_t committed) {
        ++died[static_cast<std::size_t>(death)];
        if (!std::filesystem::exists(path)) return;
        auto there = tree_of(path);
        // What has its name is whole.
        std::size_t named = 0;
        for (const auto& [name, content] : there) {
          if (name.starts_with("records.csv") || name.starts_with(".unfinished/")) continue;
          REQUIRE(expected.contains(name));
          CHECK(content == expected.at(name));
          if (!name.ends_with('/')) ++named;
        }
        CHECK(named >= committed);
        if (named % 20 != 0) ++in_a_commit;
        const bool looks_finished = there.contains("records.csv") && !there.contains("records.csv-unfinished.json");
        if (looks_finished) {
          // Killed before it went after the mark; the next run takes it away.
          there.erase("records.csv-unfinished.json.lock");
          CHECK(there == expected);
        } else {
          const Files files{.root = path, .labels = path + "/records.csv"};
          CHECK_THROWS_AS(FilesSource{files}, Error);
          // Nothing that was reported as committed is lost.
          FilesSink sink({.path = path, .job = "test", .sync = sync});
          sink.open({labelled_schema, items.size()});
          CHECK(had_by(sink, items) >= committed);
        }
      });
      REQUIRE(tree_of(path) == expected);
    }
  }
  WARN(died[0] << " died before a put, " << died[1] << " anywhere, " << died[2] << " at the end; " << in_a_commit
               << " while files were given their names");
}
