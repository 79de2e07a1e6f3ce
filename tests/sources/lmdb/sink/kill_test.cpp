// SPDX-License-Identifier: Apache-2.0
// Writers that are killed at any moment.
#include <penstock/sources/lmdb_sink.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <penstock/sources/lmdb.hpp>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::uint64_t records = 300;
const Schema schema{{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}};

struct Job {
  LmdbRecords kind;
  bool sorted;
  bool sync;
};

std::string key_of(const Job& job, std::uint64_t i) {
  return "class/" + decimal_key(job.sorted ? i : i * 7919 % records);
}

void write_all(const std::string& path, const Job& job, int committed_fd = -1, std::uint64_t die_before_put = records) {
  LmdbSink sink({.path = path, .records = job.kind, .job = "test", .sync = job.sync, .map_bytes = 100'000});
  sink.open({schema, records});
  std::uint64_t uncommitted = 0;
  const auto commit = [&] {
    sink.commit();
    for (; uncommitted != 0; --uncommitted)
      if (committed_fd >= 0) static_cast<void>(!::write(committed_fd, "c", 1));
  };
  for (std::uint64_t i = 0; i < records; ++i) {
    const SinkItem item{.position = i, .index = i, .key = key_of(job, i)};
    if (!sink.has(item)) {
      if (i == die_before_put) ::raise(SIGKILL);
      OwnedSample sample(schema);
      SampleBuilder out = sample.builder();
      const auto image = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(i * 97 % 12'000)});
      std::memset(image.data(), static_cast<int>(i), image.size());
      out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
      Sample view = sample.sample();
      sink.put(item, view);
      ++uncommitted;
    }
    if (i % 20 == 19) commit();
  }
  commit();
  sink.finish();
}

}  // namespace

TEST_CASE("a writer that is killed at any moment is continued exactly") {
  std::mt19937_64 random(19);
  for (const Job job : {Job{LmdbRecords::fields, true, true}, Job{LmdbRecords::fields, false, false},
                        Job{LmdbRecords::raw, true, false}, Job{LmdbRecords::raw, false, true}}) {
    const TempFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    write_all(folder / "whole", job);
    const auto whole_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    const Pairs expected = RawLmdb{folder / "whole"}.read();

    for (int round = 0; round < 5; ++round) {
      const std::string path = folder / ("killed" + std::to_string(round));
      std::uint64_t committed = 0;
      int kills = 0;
      for (bool finished = false; !finished;) {
        int pipe[2];
        REQUIRE(::pipe(pipe) == 0);
        // Half of them die between two puts, the others whenever the signal comes; the fifth may live.
        const bool by_time = random() % 2 == 0;
        const std::uint64_t at = random() % records;
        const auto wait = std::chrono::microseconds(random() % static_cast<std::uint64_t>(whole_us + 1));
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
          try {
            write_all(path, job, pipe[1], kills < 4 && !by_time ? at : records);
            ::_exit(0);
          } catch (const std::exception& error) {
            static_cast<void>(!::write(2, error.what(), std::strlen(error.what())));
            ::_exit(1);
          }
        }
        ::close(pipe[1]);
        if (kills < 4 && by_time) {
          std::this_thread::sleep_for(wait);
          ::kill(child, SIGKILL);
        }
        char byte = 0;
        while (::read(pipe[0], &byte, 1) == 1) ++committed;
        ::close(pipe[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        finished = WIFEXITED(status);
        if (finished)
          REQUIRE(WEXITSTATUS(status) == 0);
        else
          ++kills;

        if (finished) {
          CHECK(RawLmdb{path}.read() == expected);
          CHECK(LmdbSource({.path = path}).size() == records);
        } else if (std::filesystem::exists(path + "/data.mdb") &&
                   std::filesystem::file_size(path + "/data.mdb") >= 8192) {
          // Nothing that was reported as committed is lost, and the store does not look finished.
          const LmdbSource part({.path = path,
                                 .values = job.kind == LmdbRecords::raw ? LmdbValues::raw : LmdbValues::automatic,
                                 .allow_unfinished = true});
          CHECK(part.size() >= committed);
          for (std::uint64_t i = 0; i < part.size(); ++i) static_cast<void>(read_sample(part, i));
          if (part.size() < records)
            CHECK(error_of([&] { LmdbSource({.path = path}); }).code() == Errc::invalid_argument);
        }
      }
    }
  }
}
