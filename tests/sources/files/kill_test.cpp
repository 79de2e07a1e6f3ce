// Writers that are killed at any moment. PENSTOCK_TEST_SCALE multiplies the rounds.
#include <penstock/sources/files_sink.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include <penstock/sources/files.hpp>

#include "sources/files/sink_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::size_t records = 300;

void write_all(const std::string& path, bool sync, int committed_fd = -1, std::size_t die_before_put = records) {
  const std::vector<FileItem> items = file_items(records, 12'000);
  FilesSink sink({.path = path, .job = "test", .sync = sync});
  sink.open(file_schema, records);
  std::size_t there = 0, uncommitted = 0;
  for (std::size_t i = 0; i < records; ++i) {
    if (sink.has({.position = i, .index = i, .key = items[i].key})) {
      ++there;
    } else {
      if (i == die_before_put) ::raise(SIGKILL);
      put(sink, i, items[i]);
      ++uncommitted;
    }
    if (i % 20 != 19) continue;
    sink.commit();
    for (; uncommitted != 0; --uncommitted)
      if (committed_fd >= 0) static_cast<void>(!::write(committed_fd, "c", 1));
  }
  if (committed_fd >= 0 && there != records) static_cast<void>(!::write(committed_fd, "f", 1));
  sink.finish();
}

}  // namespace

TEST_CASE("a writer of files that is killed at any moment is continued, byte for byte") {
  std::mt19937_64 random(31);
  const char* const scale = std::getenv("PENSTOCK_TEST_SCALE");
  const int rounds = scale != nullptr ? std::max(1, std::atoi(scale)) * 30 : 30;
  std::uint64_t died[3] = {}, in_a_commit = 0;
  for (const bool sync : {true, false}) {
    const TempFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    write_all(folder / "whole", sync);
    const auto whole_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    const auto expected = tree_of(folder / "whole");

    for (int round = 0; round < rounds; ++round) {
      const std::string path = folder / ("killed" + std::to_string(round));
      std::size_t committed = 0;
      int kills = 0;
      for (bool finished = false; !finished;) {
        int pipe[2];
        REQUIRE(::pipe(pipe) == 0);
        // Some die between two puts, others whenever the signal comes, and some while they finish; the seventh may
        // live.
        const std::uint64_t way = random() % 3;
        const std::size_t at = random() % records;
        const auto wait = std::chrono::microseconds(random() % static_cast<std::uint64_t>(whole_us + 1));
        const auto late = std::chrono::microseconds(random() % 300);
        const bool kill = kills < 6;
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
          try {
            write_all(path, sync, pipe[1], kill && way == 0 ? at : records);
            ::_exit(0);
          } catch (const std::exception& error) {
            static_cast<void>(!::write(2, error.what(), std::strlen(error.what())));
            ::_exit(1);
          }
        }
        ::close(pipe[1]);
        if (kill && way == 1) {
          std::this_thread::sleep_for(wait);
          ::kill(child, SIGKILL);
        }
        char byte = 0;
        while (::read(pipe[0], &byte, 1) == 1) {
          if (byte == 'c') ++committed;
          if (byte == 'f' && kill && way == 2) {
            std::this_thread::sleep_for(late);
            ::kill(child, SIGKILL);
          }
        }
        ::close(pipe[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        finished = WIFEXITED(status);
        if (finished) {
          REQUIRE(WEXITSTATUS(status) == 0);
          REQUIRE(tree_of(path) == expected);
          continue;
        }
        ++kills;
        ++died[way];
        if (!std::filesystem::exists(path)) continue;
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
          sink.open(file_schema, records);
          const auto items = file_items(records, 12'000);
          std::size_t has = 0;
          while (has < records && sink.has({.position = has, .index = has, .key = items[has].key})) ++has;
          CHECK(has >= committed);
        }
      }
    }
  }
  WARN(died[0] << " died before a put, " << died[1] << " anywhere, " << died[2] << " at the end; " << in_a_commit
               << " while files were given their names");
}
