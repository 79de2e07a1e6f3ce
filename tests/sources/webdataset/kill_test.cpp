// Writers that are killed at any moment. PENSTOCK_TEST_SCALE multiplies the rounds.
#include <penstock/sources/webdataset_sink.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include <penstock/sources/webdataset.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::size_t records = 300;

struct Job {
  bool sync;
  std::uint64_t max_samples, max_bytes;
};

void write_all(const std::string& path, const Job& job, int committed_fd = -1, std::size_t die_before_put = records) {
  const std::vector<ShardItem> items = shard_items(records, 12'000);
  WebDatasetSink sink(
      {.path = path, .max_samples = job.max_samples, .max_bytes = job.max_bytes, .job = "test", .sync = job.sync});
  sink.open(shard_schema, records);
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

TEST_CASE("a writer of shards that is killed at any moment is continued, byte for byte") {
  std::mt19937_64 random(29);
  const char* const scale = std::getenv("PENSTOCK_TEST_SCALE");
  const int rounds = scale != nullptr ? std::max(1, std::atoi(scale)) * 4 : 4;
  for (const Job job :
       {Job{true, 10'000, 1u << 30}, Job{false, 37, 1u << 30}, Job{true, 1000, 150'000}, Job{false, 5, 1u << 30}}) {
    const TempFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    write_all(folder / "whole/t", job);
    const auto whole_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    const auto expected = files_in(folder / "whole");

    for (int round = 0; round < rounds; ++round) {
      const std::string name = "killed" + std::to_string(round);
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
            write_all(folder / (name + "/t"), job, pipe[1], kill && way == 0 ? at : records);
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
          REQUIRE(files_in(folder / name) == expected);
          continue;
        }
        ++kills;
        if (!std::filesystem::exists(folder / name)) continue;
        auto there = files_in(folder / name);
        const bool looks_finished = there.contains("t-000000.tar") && !there.contains("t-unfinished.json");
        if (looks_finished) {
          there.erase("t-unfinished.json.lock");  // killed before it went after the mark; the next run takes it away
          CHECK(there == expected);
        } else {
          CHECK_THROWS_AS(WebDatasetSource({.path = folder / name}), Error);
          // Nothing that was reported as committed is lost.
          WebDatasetSink sink({.path = folder / (name + "/t"),
                               .max_samples = job.max_samples,
                               .max_bytes = job.max_bytes,
                               .job = "test",
                               .sync = job.sync});
          sink.open(shard_schema, records);
          const auto items = shard_items(records, 12'000);
          std::size_t has = 0;
          while (has < records && sink.has({.position = has, .index = has, .key = items[has].key})) ++has;
          CHECK(has >= committed);
        }
      }
    }
  }
}
