// SPDX-License-Identifier: Apache-2.0
// A store that is there already: unfinished, finished, of another job, or cut off by a full disk.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "sources/files/folder_files.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/sink_checks.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("a writer that was killed before its first commit is continued") {
  for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
    // The data file is not there yet, or half of what LMDB puts there first, or all of it.
    for (const std::uintmax_t bytes : {0u, 4096u, 8192u}) {
      const TempFolder folder;
      LmdbSink whole({.path = folder / "whole", .records = records});
      REQUIRE(run(whole, sorted_items(9)));
      LmdbSink({.path = folder / "part", .records = LmdbRecords::raw}).open({bytes_schema, 9});
      CHECK(LmdbSource({.path = folder / "part", .allow_unfinished = true}).size() == 0);
      std::filesystem::resize_file(folder / "part/data.mdb", bytes);
      const Errc expected = bytes < 8192 ? Errc::corrupt : Errc::invalid_argument;
      CHECK(code_of([&] { LmdbSource({.path = folder / "part"}); }) == expected);
      LmdbSink rest({.path = folder / "part", .records = records});
      REQUIRE(run(rest, sorted_items(9)));
      CHECK(RawLmdb{folder / "part"}.read() == RawLmdb{folder / "whole"}.read());
      CHECK_FALSE(std::filesystem::exists(folder / "part/unfinished.json"));
    }
  }
}

TEST_CASE("a file that is no store of ours is left as it is") {
  for (const std::string& content :
       {std::string("a list of something"), std::string(5000, 'x'), std::string(9000, 'x')}) {
    const TempFolder folder;
    folder.write("notes", content);
    CHECK(code_of([&] {
            LmdbSink({.path = folder / "notes", .single_file = true}).open({bytes_schema, 5});
          }) == Errc::corrupt);
    CHECK(files_in(folder.path().string()).at("notes") == content);
  }
}

TEST_CASE("a stopped run goes on where it was") {
  for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
    for (const Items& items : {sorted_items(100), shuffled_items(100)}) {
      const TempFolder folder;
      LmdbSink whole({.path = folder / "whole", .records = records});
      REQUIRE(run(whole, items));
      const Pairs expected = RawLmdb{folder / "whole"}.read();
      for (const std::size_t stop : {0, 1, 50, 99}) {
        const std::string path = folder / ("part" + std::to_string(stop));
        {
          LmdbSink part({.path = path, .records = records});
          REQUIRE_FALSE(run(part, items, stop));
        }
        const Error refused = error_of([&] { LmdbSource({.path = path}); });
        CHECK(refused.code() == Errc::invalid_argument);
        CHECK(mentions(refused, "unfinished"));
        CHECK(LmdbSource({.path = path, .allow_unfinished = true}).size() == stop);
        LmdbSink rest({.path = path, .records = records});
        REQUIRE(run(rest, items));
        CHECK_FALSE(rest.was_finished());
        CHECK(RawLmdb{path}.read() == expected);
      }
    }
  }
}

TEST_CASE("an unfinished run is not continued by another job") {
  const TempFolder folder;
  const auto of_class = [](const std::string& name) { return Schema{{"image", DType::u8, {dynamic}, {}, {name}}}; };
  {
    LmdbSink part({.path = folder / "a", .job = "one"});
    REQUIRE_FALSE(run(part, sorted_items(20), 10, of_class("x")));
  }
  const auto attempt = [](const LmdbSinkOptions& options, const Schema& schema) {
    return error_of([&] { LmdbSink(options).open({schema, 20}); });
  };
  const std::string path = folder / "a";
  const Error other_job = attempt({.path = path, .job = "two"}, of_class("x"));
  CHECK(other_job.code() == Errc::state_mismatch);
  CHECK(mentions(other_job, "delete it"));
  const Error other_classes = attempt({.path = path, .job = "one"}, of_class("y"));
  CHECK(other_classes.code() == Errc::state_mismatch);
  CHECK(mentions(other_classes, "stands for other classes there, 1 class: 0 x"));
  CHECK(attempt({.path = path, .keys = LmdbKeys::position, .job = "one"}, of_class("x")).code() ==
        Errc::state_mismatch);
  const Error other_schema = attempt({.path = path, .job = "one"}, {{"image", DType::u8, {7}}});
  CHECK(other_schema.code() == Errc::state_mismatch);
  CHECK(mentions(other_schema, "u8[?]"));
  LmdbSink rest({.path = folder / "a", .job = "one"});
  CHECK(run(rest, sorted_items(20), 20, of_class("x")));
}

TEST_CASE("a finished store is never overwritten") {
  for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
    const TempFolder folder;
    const LmdbSinkOptions options{.path = folder / "a", .records = records};
    LmdbSink first(options);
    REQUIRE(run(first, sorted_items(30)));
    CHECK_FALSE(first.was_finished());
    const Pairs before = RawLmdb{folder / "a"}.read();

    LmdbSink again(options);
    CHECK(run(again, sorted_items(30)));
    CHECK(again.was_finished());
    LmdbSink other(options), more(options), fewer(options);
    CHECK(code_of([&] { run(other, shuffled_items(30)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { run(more, sorted_items(31)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { run(fewer, sorted_items(29)); }) == Errc::invalid_argument);
    CHECK(RawLmdb{folder / "a"}.read() == before);
  }
  const TempFolder folder;
  RawLmdb{folder / "foreign"}.write(numbered(5));
  CHECK(code_of([&] { LmdbSink({.path = folder / "foreign"}).open({bytes_schema, 5}); }) == Errc::invalid_argument);
}

TEST_CASE("a finished store of the same job gets what it lacks, and is unfinished until it has it") {
  for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
    const TempFolder folder;
    const Items all = sorted_items(30);
    Items some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % 7 != 3) some.push_back(all[i]);
    LmdbSink whole({.path = folder / "whole", .records = records, .job = "a"});
    REQUIRE(run(whole, all));
    const LmdbSinkOptions options{.path = folder / "part", .records = records, .job = "a", .mode = LmdbMode::extend};
    LmdbSink first(options);
    REQUIRE(run(first, some));
    // Opened and left, it is an unfinished store, that any run of the job goes on with.
    LmdbSink(options).open({bytes_schema, all.size()});
    CHECK(code_of([&] { LmdbSource({.path = folder / "part"}); }) == Errc::invalid_argument);
    LmdbSink second(options);
    REQUIRE(run(second, all));
    CHECK_FALSE(second.was_finished());
    CHECK(RawLmdb{folder / "part"}.read() == RawLmdb{folder / "whole"}.read());
    CHECK(LmdbSource({.path = folder / "part"}).size() == all.size());
    if (records == LmdbRecords::raw) continue;  // which keep no job
    LmdbSinkOptions other = options;
    other.job = "b";
    CHECK(code_of([&] { LmdbSink(other).open({bytes_schema, all.size()}); }) == Errc::invalid_argument);
    CHECK(LmdbSource({.path = folder / "part"}).size() == all.size());
  }
}

TEST_CASE("two records with one key are refused") {
  const TempFolder folder;
  int store = 0;
  const auto refuses = [&](const Items& items) {
    LmdbSink sink({.path = folder / std::to_string(store++)});
    return code_of([&] { run(sink, items); }) == Errc::invalid_argument;
  };
  CHECK(refuses({{"a", "1"}, {"a", "2"}}));
  CHECK(refuses({{"b", "1"}, {"a", "2"}, {"b", "3"}}));
  CHECK(refuses({{"b", "1"}, {"a", "2"}, {"a", "3"}}));
  // A run that was stopped may have written the first of the two.
  const Items doubled{{"b", "1"}, {"a", "2"}, {"c", "3"}, {"a", "4"}};
  LmdbSink part({.path = folder / "part"});
  REQUIRE_FALSE(run(part, doubled, 3));
  part = LmdbSink({.path = folder / "part"});
  CHECK(code_of([&] { run(part, doubled); }) == Errc::invalid_argument);
}

TEST_CASE("a full disk is reported, and the run goes on when there is room") {
  const TempFolder folder;
  const Items items = sorted_items(600);
  LmdbSink whole({.path = folder / "whole"});
  REQUIRE(run(whole, items));
  {
    // Stands in for a full disk: no file may grow further. The signal that goes with it is not meant here.
    LmdbSink sink({.path = folder / "a"});
    rlimit before{}, small{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before;
    small.rlim_cur = 400'000;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const Error error = error_of([&] { run(sink, items); });
    const Error after = error_of([&] { put(sink, 599, "later", "x"); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    INFO(error.what());
    CHECK(error.code() == Errc::io);
    CHECK(error.file() == folder / "a/data.mdb");
    CHECK(mentions(error, "bytes were to be written"));
    CHECK(mentions(error, "bytes are free"));
    CHECK(after.code() == Errc::closed);
  }
  LmdbSink rest({.path = folder / "a"});
  CHECK(run(rest, items));
  CHECK(RawLmdb{folder / "a"}.read() == RawLmdb{folder / "whole"}.read());
}
