// SPDX-License-Identifier: Apache-2.0
// What other processes, and children of this one, do to a store.
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("a child made by fork can't use its parent's store") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  const LmdbSource source({.path = raw.path});
  auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  reader->read(7, out);

  CHECK(in_child([&] { return code_of([&] { reader->read(7, out); }) == Errc::forked; }));
  CHECK(in_child([&] { return code_of([&] { static_cast<void>(source.open_reader()); }) == Errc::forked; }));
  CHECK(in_child([&] {
    const std::vector<std::uint64_t> batch{1, 2, 3};
    source.will_need(batch);
    reader->pause();
    reader.reset();
    const LmdbSource own({.path = raw.path});
    return read_text(own, 7) == numbered(50)["00000007"];
  }));
  // The children have touched neither the reader slot nor the transaction.
  reader->read(8, out);
  CHECK(text_of(sample["image"]) == numbered(50)["00000008"]);
}

TEST_CASE("a child made by fork can't use its parent's sink") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic}}};
  LmdbSink sink({.path = folder / "a"});
  sink.open({schema, 2});
  OwnedSample sample(schema);
  SampleBuilder out = sample.builder();
  out.emplace<std::uint8_t, 1>("image", {5});
  Sample view = sample.sample();
  sink.put({.position = 0, .index = 0, .key = "a"}, view);
  CHECK(in_child(
      [&] { return code_of([&] { sink.put({.position = 1, .index = 1, .key = "b"}, view); }) == Errc::forked; }));
  CHECK(in_child([&] { return code_of([&] { sink.commit(); }) == Errc::forked; }));
  sink.put({.position = 1, .index = 1, .key = "b"}, view);
  sink.finish();
  CHECK(LmdbSource({.path = folder / "a"}).size() == 2);
}

TEST_CASE("one map for a store that is opened twice") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50, 5000));
  std::filesystem::create_directory_symlink(raw.path, folder / "other-name");
  auto first = std::make_unique<LmdbSource>(Lmdb{.path = raw.path});
  const LmdbSource second({.path = folder / "other-name"});
  const auto address = [](const LmdbSource& source) {
    OwnedSample sample(source.schema());
    SampleBuilder out = sample.builder();
    source.open_reader()->read(3, out);
    return sample["image"].data;
  };
  const std::byte* const seen = address(*first);
  CHECK(address(second) == seen);
  first.reset();
  CHECK(address(second) == seen);
  CHECK(read_text(second, 9) == numbered(50, 5000)["00000009"]);
}

TEST_CASE("a store can't be read and written by one process") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic}}};
  {
    LmdbSink sink({.path = folder / "a"});
    sink.open({schema, 0});
    CHECK(code_of([&] { LmdbSource({.path = folder / "a", .allow_unfinished = true}); }) == Errc::invalid_argument);
    LmdbSink second({.path = folder / "a"});
    CHECK(code_of([&] { second.open({schema, 0}); }) == Errc::invalid_argument);
    sink.finish();
  }
  const LmdbSource source({.path = folder / "a"});
  LmdbSink sink({.path = folder / "a"});
  CHECK(code_of([&] { sink.open({schema, 0}); }) == Errc::invalid_argument);
}

TEST_CASE("a store can't be written by two processes") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic}}};
  LmdbSink sink({.path = folder / "a"});
  sink.open({schema, 0});
  CHECK(in_child([&] {
    LmdbSink second({.path = folder / "a"});
    const Error error = error_of([&] { second.open({schema, 0}); });
    return error.code() == Errc::invalid_argument &&
           mentions(error, "another process (" + std::to_string(::getppid()) + ", \"test_lmdb_damag\")") &&
           mentions(error, "wait until it is done, or stop it");
  }));
  sink.finish();
}

TEST_CASE("no reader slot is left") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  // Another process holds the store with few slots: whoever comes later can't have more.
  std::filesystem::remove(folder / "a/lock.mdb");
  int ready[2], done[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(done) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(done[1]);  // so that it ends with its parent
    MDB_env* env = nullptr;
    must(mdb_env_create(&env));
    must(mdb_env_set_maxreaders(env, 4));
    must(mdb_env_open(env, raw.path.c_str(), MDB_RDONLY, 0644));
    char byte = 'r';
    static_cast<void>(!::write(ready[1], &byte, 1));
    static_cast<void>(!::read(done[0], &byte, 1));
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  {
    const LmdbSource source({.path = raw.path});
    std::vector<std::unique_ptr<LmdbReader>> readers;
    const Error error = error_of([&] {
      for (int i = 0; i < 10; ++i) readers.push_back(source.open_reader());
    });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, "reader slots"));
    CHECK(readers.size() >= 3);
    readers.clear();
    CHECK(read_text(source, 1) == numbered(50)["00000001"]);
  }
  REQUIRE(::write(done[1], &byte, 1) == 1);
  ::waitpid(child, nullptr, 0);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
}

TEST_CASE("slots of killed readers are cleared") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  {
    std::filesystem::remove(folder / "a/lock.mdb");
    MDB_env* env = nullptr;  // makes the lock file with few slots, and keeps it from being made anew
    must(mdb_env_create(&env));
    must(mdb_env_set_maxreaders(env, 6));
    must(mdb_env_open(env, raw.path.c_str(), MDB_RDONLY | MDB_NOTLS, 0644));
    for (int i = 0; i < 4; ++i) {
      in_child([&] {
        const LmdbSource source({.path = raw.path});
        std::vector<std::unique_ptr<LmdbReader>> readers;
        for (int r = 0; r < 3; ++r) {
          readers.push_back(source.open_reader());
          OwnedSample sample(source.schema());
          SampleBuilder out = sample.builder();
          readers.back()->read(1, out);
        }
        ::raise(SIGKILL);
        return true;
      });
    }
    CHECK(in_child([&] { return read_text(LmdbSource({.path = raw.path}), 1) == numbered(50)["00000001"]; }));
    mdb_env_close(env);
  }
}

TEST_CASE("another process lets the store grow") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  const Pairs pairs = numbered(50, 300);
  raw.write(pairs);
  const LmdbSource source({.path = raw.path});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  for (std::uint64_t i = 0; i < source.size(); ++i) reader->read(i, out);  // learns where all of them lie
  reader->read(7, out);
  REQUIRE(in_child([&] {
    RawLmdb{raw.path}.write({{"more", std::string(50u << 20, 'm')}, {"00000009", std::string(7000, 'n')}});
    return true;
  }));
  CHECK(text_of(sample["image"]) == pairs.at("00000007"));
  const auto late = source.open_reader();
  late->read(9, out);
  CHECK(text_of(sample["image"]) == std::string(7000, 'n'));
  reader->read(9, out);
  CHECK(text_of(sample["image"]) == pairs.at("00000009"));
  reader->pause();
  reader->read(8, out);
  CHECK(text_of(sample["image"]) == pairs.at("00000008"));
  CHECK(source.size() == 50);
  reader->read(9, out);
  CHECK(text_of(sample["image"]) == std::string(7000, 'n'));
  REQUIRE(in_child([&] {
    MDB_env* env = raw.open();
    MDB_txn* txn = nullptr;
    must(mdb_txn_begin(env, nullptr, 0, &txn));
    MDB_val key{8, const_cast<char*>("00000011")};
    MDB_dbi table = 0;
    must(mdb_dbi_open(txn, nullptr, 0, &table));
    must(mdb_del(txn, table, &key, nullptr));
    must(mdb_txn_commit(txn));
    mdb_env_close(env);
    return true;
  }));
  reader->pause();
  const Error error = error_of([&] { reader->read(11, out); });
  CHECK(error.code() == Errc::not_found);
  CHECK(error.key() == "00000011");
}

TEST_CASE("a store on media that can't be written to") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  std::filesystem::remove(folder / "a/lock.mdb");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod((folder / "a/data.mdb").c_str(), 0444);
  ::chmod(raw.path.c_str(), 0555);
  CHECK(in_child([&] {
    // Root may write anywhere, so be someone else.
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return false;
    return read_text(LmdbSource({.path = raw.path}), 7) == numbered(50)["00000007"];
  }));
  CHECK_FALSE(std::filesystem::exists(folder / "a/lock.mdb"));
  ::chmod(raw.path.c_str(), 0755);
}

TEST_CASE("a store that nobody has open is read without a lock file where that is asked for") {
  const TempFolder folder;
  for (const bool single : {false, true}) {
    const RawLmdb raw{folder / (single ? "a.mdb" : "a"), single ? unsigned{MDB_NOSUBDIR} : 0u};
    raw.write(numbered(50));
    const std::string lock = single ? raw.path + "-lock" : raw.path + "/lock.mdb";
    for (const bool there : {true, false}) {
      if (!there) std::filesystem::remove(lock);
      const auto before = there ? std::filesystem::last_write_time(lock) : std::filesystem::file_time_type();
      const LmdbSource source({.path = raw.path, .lock_file = false});
      CHECK(read_text(source, 7) == numbered(50)["00000007"]);
      CHECK_NOTHROW(source.require_unchanged());
      CHECK(source.notes().size() == 1);
      CHECK(std::filesystem::exists(lock) == there);
      if (there) CHECK(std::filesystem::last_write_time(lock) == before);
    }
    CHECK(LmdbSource({.path = raw.path}).notes().empty());
    CHECK(std::filesystem::exists(lock));
  }
}

TEST_CASE("whoever reads without a lock file is told once somebody has written") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  std::filesystem::remove(folder / "a/lock.mdb");
  const LmdbSource source({.path = raw.path, .lock_file = false});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  reader->read(7, out);
  CHECK(in_child([&] {
    raw.write({{"00000007", "another"}});
    return true;
  }));
  for (const std::uint64_t index : {7u, 8u}) {
    const Error error = error_of([&] { reader->read(index, out); });
    INFO(error.what());
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(std::string(error.what()).find("read it again when nobody writes to it") != std::string::npos);
  }
  reader->pause();
  CHECK(code_of([&] { reader->read(9, out); }) == Errc::invalid_argument);
  CHECK(code_of([&] { source.require_unchanged(); }) == Errc::invalid_argument);
}

namespace {

struct Kind {
  LmdbValues values;
  Pairs (*pairs)(const TempFolder&);
};

constexpr std::size_t value_bytes = 3000;

Pairs raw_values(const TempFolder&) { return numbered(50, value_bytes); }

// An encoded image of a Datum.
Pairs datums(const TempFolder& folder) {
  Pairs pairs = raw_values(folder);
  for (auto& [key, value] : pairs) {
    value.resize(value_bytes);
    value = "\x38\x01\x22" + std::string{static_cast<char>(value_bytes % 128 | 128), value_bytes / 128} + value;
  }
  return pairs;
}

Pairs records(const TempFolder& folder) {
  LmdbSink sink({.path = folder / "made", .sync = false});
  const Schema schema{{"image", DType::u8, {dynamic}}};
  sink.open({schema, 50});
  for (std::uint64_t i = 0; i < 50; ++i) {
    OwnedSample sample(schema);
    SampleBuilder out = sample.builder();
    std::memset(out.emplace(0, {static_cast<std::int64_t>(value_bytes)}).data, static_cast<int>('a' + i % 26),
                value_bytes);
    Sample view = sample.sample();
    sink.put({.position = i, .index = i, .key = {}}, view);
  }
  sink.finish();
  return RawLmdb{folder / "made"}.read();
}

const Kind kinds[] = {{LmdbValues::raw, raw_values}, {LmdbValues::datum, datums}, {LmdbValues::records, records}};

}  // namespace

TEST_CASE("a value that was read without a lock file stays what it was whoever writes") {
  for (const Kind& kind : kinds)
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      const TempFolder folder;
      const RawLmdb raw{folder / "a"};
      const Pairs pairs = kind.pairs(folder);
      raw.write(pairs);
      const LmdbSource source({.path = raw.path, .values = kind.values, .lock_file = false, .access = access});
      CAPTURE(kind.values, access);
      REQUIRE(source.notes().size() == 1);
      const auto reader = source.open_reader();
      OwnedSample sample(source.schema());
      SampleBuilder out = sample.builder();
      reader->read(7, out);
      const auto seen = sample.sample().bytes("image");
      const std::vector<std::byte> before(seen.begin(), seen.end());
      CHECK(in_child([&] {
        for (const char fill : {'0', '1', '2', '3'}) {
          Pairs others = pairs;
          for (auto& [key, value] : others) value.assign(value.size(), fill);
          raw.write(others);
        }
        return true;
      }));
      CHECK(std::equal(before.begin(), before.end(), seen.begin(), seen.end()));
      CHECK(code_of([&] { reader->read(8, out); }) == Errc::invalid_argument);
    }
}

TEST_CASE("who wants a lock file keeps writers out where the store is open without") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  std::filesystem::remove(folder / "a/lock.mdb");
  const auto writers_are_refused = [&] {
    return in_child([&] {
      const Error error = error_of([&] {
        LmdbSink({.path = raw.path, .sync = false}).open({{{"image", DType::u8, {dynamic}}}, 1});
      });
      return error.code() == Errc::invalid_argument &&
             std::string(error.what()).find("reads it without LMDB's lock file") != std::string::npos;
    });
  };
  auto look = std::make_unique<LmdbSource>(Lmdb{.path = raw.path, .lock_file = false});
  auto source = std::make_unique<LmdbSource>(Lmdb{.path = raw.path});
  REQUIRE(look->notes().size() == 1);
  REQUIRE(source->notes().size() == 1);
  CHECK(look->notes()[0].find("nothing is to be written beside") != std::string::npos);
  CHECK(source->notes()[0].find("a source with lock_file = false has the store open") != std::string::npos);
  CHECK(writers_are_refused());
  look.reset();
  CHECK(writers_are_refused());
  CHECK(read_text(*source, 7) == numbered(50)["00000007"]);
  source.reset();
  CHECK(LmdbSource({.path = raw.path}).notes().empty());
}

TEST_CASE("a store that another process has open is read with its lock file whatever is asked for") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(50));
  int ready[2], done[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(done) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    MDB_env* const env = raw.open();
    char byte = 'r';
    static_cast<void>(!::write(ready[1], &byte, 1));
    ::close(done[1]);
    static_cast<void>(!::read(done[0], &byte, 1));
    mdb_env_close(env);
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  {
    const LmdbSource source({.path = raw.path, .lock_file = false});
    CHECK(source.notes().empty());
    CHECK(read_text(source, 7) == numbered(50)["00000007"]);
  }
  ::close(done[0]);
  ::close(done[1]);
  CHECK(::waitpid(child, nullptr, 0) == child);
  for (const int end : ready) ::close(end);
}
