// SPDX-License-Identifier: Apache-2.0
// Stores of raw values: keys, layouts, readers, advice.
#include <penstock/sources/lmdb.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/memory.hpp>

#include "core/help.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

static_assert(LeasedSource<LmdbSource>);
static_assert(!SharedSource<LmdbSource>);
static_assert(Sink<LmdbSink>);

namespace {

void check_all(const LmdbSource& source, const Pairs& pairs) {
  REQUIRE(source.size() == pairs.size());
  const auto reader = source.open_reader();
  std::uint64_t index = 0;
  for (const auto& [key, value] : pairs) {
    OwnedSample sample(source.schema());
    SampleBuilder out = sample.builder();
    reader->read(index, out);
    if (source.key(index) != key || text_of(sample["image"]) != value) FAIL("record " << index);
    ++index;
  }
}

std::string big_endian_key(std::uint64_t number) {
  std::string key(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}

}  // namespace

TEST_CASE("lmdb of raw values") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};

  SECTION("under consecutive decimal keys") {
    Pairs pairs;
    for (std::uint64_t i = 95; i < 1205; ++i) pairs[decimal_key(i, 5)] = std::to_string(i * i);
    raw.write(pairs);
    const LmdbSource source({.path = raw.path});
    check_all(source, pairs);
    CHECK(source.key_passes() == 0);
    CHECK(source.schema().to_string() == "{image: u8[?]}");
    CHECK(source.file() == folder / "a/data.mdb");
  }
  SECTION("under consecutive binary keys") {
    Pairs pairs;
    for (std::uint64_t i = 250; i < 600; ++i) pairs[big_endian_key(i)] = std::to_string(i);
    raw.write(pairs);
    const LmdbSource source({.path = raw.path});
    check_all(source, pairs);
    CHECK(source.key_passes() == 0);
  }
  SECTION("under any keys") {
    Pairs pairs{{std::string("\0nul", 4), "1"},
                {std::string("\0\0", 2), "2"},
                {"a\nb", "3"},
                {"\xff\xfe", "4"},
                {std::string(511, 'k'), "5"},
                {"cat/1", ""}};
    raw.write(pairs);
    const LmdbSource source({.path = raw.path});
    check_all(source, pairs);
    CHECK(source.key_passes() == 1);
  }
  SECTION("under keys that only look consecutive") {
    Pairs pairs = numbered(1000);
    pairs.erase(decimal_key(500));
    pairs["00000499x"] = "stray";  // first, last and number still agree
    raw.write(pairs);
    const LmdbSource source({.path = raw.path});
    // A few keys are looked up: whichever way it was taken, none may be missed without a word.
    if (source.key_passes() == 1)
      check_all(source, pairs);
    else
      CHECK(error_of([&] { read_sample(source, 500); }).code() == Errc::not_found);
  }
  SECTION("under many keys of another form") {
    Pairs pairs{{"0000", "v"}, {"0999", "v"}};
    for (std::uint64_t i = 1; i < 999; ++i)
      pairs[decimal_key(i, 4).substr(0, 3) + static_cast<char>('0' + i % 10) + "!"] = "v" + std::to_string(i);
    raw.write(pairs);
    const LmdbSource source({.path = raw.path});
    CHECK(source.key_passes() == 1);
    check_all(source, pairs);
  }
  SECTION("of all sizes") {
    Pairs pairs;
    for (std::size_t bytes = 0; bytes < 70'000; bytes = bytes * 3 / 2 + 1)
      pairs["key" + decimal_key(bytes)] = std::string(bytes, 'x');
    raw.write(pairs);
    check_all(LmdbSource({.path = raw.path}), pairs);
    check_all(LmdbSource({.path = raw.path, .access = FileAccess::read}), pairs);
    check_all(LmdbSource({.path = raw.path, .read_ahead = true}), pairs);
  }
  SECTION("without records") {
    raw.write({});
    const LmdbSource source({.path = raw.path, .access = FileAccess::read});
    CHECK(source.size() == 0);
    const std::vector<std::uint64_t> none{0, 1};
    source.will_need(none);
    CHECK(error_of([&] { read_sample(source, 0); }).code() == Errc::not_found);
    CHECK(error_of([&] { static_cast<void>(source.key(0)); }).code() == Errc::not_found);
  }
}

TEST_CASE("lmdb in a single file") {
  const TempFolder folder;
  const RawLmdb raw{folder / "one.lmdb", MDB_NOSUBDIR};
  raw.write(numbered(10));
  const LmdbSource source({.path = raw.path, .field = "jpeg"});
  CHECK(source.size() == 10);
  CHECK(source.file() == raw.path);
  CHECK(read_text(source, 3, "jpeg") == numbered(10)["00000003"]);
}

TEST_CASE("lmdb values are viewed, not copied") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(3, 5000));
  const LmdbSource source({.path = raw.path});
  const auto reader = source.open_reader();
  OwnedSample first(source.schema()), again(source.schema());
  SampleBuilder to_first = first.builder(), to_again = again.builder();
  reader->read(1, to_first);
  const std::byte* const seen = first["image"].data;
  reader->pause();
  reader->pause();
  reader->read(1, to_again);
  CHECK(again["image"].data == seen);
  first.keep();
  CHECK(first["image"].data != seen);
}

TEST_CASE("an lmdb reader told what comes reads the same") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  Pairs pairs;
  for (std::uint64_t i = 0; i < 400; ++i) pairs[decimal_key(i)] = std::string(i * i % 9000, static_cast<char>(i));
  raw.write(pairs);
  const LmdbSource source({.path = raw.path});
  const LmdbSource safe({.path = raw.path, .access = FileAccess::read});
  using Indices = std::vector<std::uint64_t>;
  const auto reader = source.open_reader(), safe_reader = safe.open_reader();
  const auto expect = [&](const Indices& indices) {
    reader->expect(indices);
    safe_reader->expect(indices);
  };
  const auto check = [&](std::uint64_t index) {
    for (const auto& each : {reader.get(), safe_reader.get()}) {
      OwnedSample sample(source.schema());
      SampleBuilder out = sample.builder();
      each->read(index, out);
      if (text_of(sample["image"]) != pairs.at(decimal_key(index))) FAIL("record " << index);
    }
  };
  SECTION("in that order") {
    expect({7, 3, 3, 399});
    for (const std::uint64_t i : {7, 3, 3, 399, 7}) check(i);
  }
  SECTION("in another order, or something else") {
    for (const Indices& reads : {Indices{3, 7, 399}, Indices{7, 9, 3, 399}, Indices{7, 399, 3}, Indices{12}}) {
      expect({7, 3, 399});
      for (const std::uint64_t i : reads) check(i);
    }
  }
  SECTION("after a pause") {
    expect({7, 3, 399});
    check(7);
    reader->pause();
    safe_reader->pause();
    for (const std::uint64_t i : {3, 399}) check(i);
  }
  SECTION("what is not there fails when it is read, with its place") {
    expect({7, 400, 3});
    check(7);
    const Error error = error_of([&] {
      OwnedSample sample(source.schema());
      SampleBuilder out = sample.builder();
      reader->read(400, out);
    });
    CHECK(error.code() == Errc::not_found);
    CHECK(error.index() == 400);
    check(3);
  }
  SECTION("nothing, and more than it remembers") {
    expect({});
    check(5);
    Indices all(400);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    expect(all);
    for (const std::uint64_t i : all) check(i);
  }
}

TEST_CASE("identity of lmdb depends on the keys") {
  const TempFolder folder;
  const auto identity = [&](const char* name, const Pairs& pairs) {
    const RawLmdb raw{folder / name};
    raw.write(pairs);
    return LmdbSource({.path = raw.path}).identity();
  };
  Pairs text{{"a", "1"}, {"bc", "2"}};
  CHECK(identity("a", text) == identity("b", text));
  CHECK(identity("c", {{"ab", "1"}, {"c", "2"}}) != identity("a", {}));
  CHECK(identity("d", numbered(10)) == identity("e", numbered(10, 90)));
  CHECK(identity("f", numbered(11)) != identity("d", {}));
}

TEST_CASE("a store that is not there, or is none") {
  const TempFolder folder;
  CHECK(error_of([&] { LmdbSource({.path = folder / "missing"}); }).code() == Errc::not_found);
  CHECK(error_of([&] { LmdbSource({.path = folder.path().string()}); }).code() == Errc::not_found);
  CHECK(error_of([&] { LmdbSource({.path = ""}); }).code() == Errc::invalid_argument);
  folder.write("text/data.mdb", std::string(10'000, 't'));
  const Error garbage = error_of([&] { LmdbSource({.path = folder / "text"}); });
  CHECK(garbage.code() == Errc::corrupt);
  CHECK(garbage.file() == folder / "text/data.mdb");
  folder.write("empty/data.mdb", "");
  CHECK(error_of([&] { LmdbSource({.path = folder / "empty"}); }).code() == Errc::corrupt);
}

TEST_CASE("lmdb refuses several values a key") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  MDB_env* env = raw.open();
  MDB_txn* txn = nullptr;
  MDB_dbi table = 0;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, nullptr, MDB_DUPSORT, &table));
  must(mdb_txn_commit(txn));
  mdb_env_close(env);
  CHECK(error_of([&] { LmdbSource({.path = raw.path}); }).code() == Errc::unsupported);
}

TEST_CASE("a store of 1.2 million keys opens at once") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  MDB_env* env = raw.open();
  MDB_txn* txn = nullptr;
  MDB_dbi table = 0;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, nullptr, 0, &table));
  for (std::uint64_t i = 0; i < 1'200'000; ++i) {
    const std::string name = "n" + decimal_key(i) + "/image.jpg";
    MDB_val key{name.size(), const_cast<char*>(name.data())}, value{4, const_cast<char*>("data")};
    must(mdb_put(txn, table, &key, &value, MDB_APPEND));
  }
  must(mdb_txn_commit(txn));
  mdb_env_close(env);
  // 0.1 s where nothing else runs.
  const auto begin = std::chrono::steady_clock::now();
  const LmdbSource source({.path = raw.path});
  CHECK(read_text(source, 1'199'999) == "data");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(source.key(1'000'001) == "n01000001/image.jpg");

  // Two of them stand in one order: 0.2 s, and no memory for their keys.
  const LmdbSource again({.path = raw.path});
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
    return 0LL;
  };
  const auto kib_before = peak();
  const auto begin_pairs = std::chrono::steady_clock::now();
  CHECK(zip({{source}, {again, "mask_"}}).size() == 1'200'000);
  CHECK(pair({{source}, {again, "mask_"}}).size() == 1'200'000);
  CHECK(std::chrono::steady_clock::now() - begin_pairs < std::chrono::seconds(8) * (help::sanitized() ? 5 : 1));
  CHECK(peak() - kib_before < 8 * 1024);
}

TEST_CASE("labels of records are had without a look at the rest of them") {
  const TempFolder folder;
  Memory records;
  records.add<std::uint8_t>("image", {9000}, std::vector<std::uint8_t>(50 * 9000, 0x5c));
  std::vector<std::int16_t> classes(50);
  std::iota(classes.begin(), classes.end(), std::int16_t{-20});
  records.add<std::int16_t>("label", {}, classes).add<std::uint64_t>("id", {}, std::vector<std::uint64_t>(50, 3));
  write(from(records), LmdbSink({.path = folder / "a"}));
  {
    std::fstream data(folder / "a/data.mdb", std::ios::binary | std::ios::in | std::ios::out);
    const std::string bytes{std::istreambuf_iterator<char>(data), {}};
    data.clear();
    data.seekp(static_cast<std::streamoff>(bytes.find(std::string(4000, 0x5c)) + 2000));
    data.put(0x5d);
  }
  const LmdbSource source({.path = folder / "a"});
  const std::vector<std::int64_t> expected(classes.begin(), classes.end());
  CHECK(source.labels("label") == expected);
  CHECK(labels_of(source, "label") == expected);
  CHECK(source.labels("image") == std::nullopt);
  CHECK(source.labels("id") == std::nullopt);  // may be no int64, so it is read
  CHECK(source.labels("none") == std::nullopt);
  CHECK(LmdbSource({.path = folder / "a", .access = FileAccess::read}).labels("label") == std::nullopt);
  CHECK(error_of([&] { (void)labels_of(source, "id"); }).code() == Errc::corrupt);
}

TEST_CASE("lmdb readers on many threads") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  const Pairs pairs = numbered(2000, 300);
  raw.write(pairs);
  const LmdbSource source({.path = raw.path});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const LmdbSource mine({.path = raw.path, .access = t % 2 == 0 ? FileAccess::read : FileAccess::map});
      for (int round = 0; round < 20; ++round) {
        const auto reader = (round % 2 == 0 ? source : mine).open_reader();
        for (std::uint64_t i = t; i < 2000; i += 37) {
          OwnedSample sample(source.schema());
          SampleBuilder out = sample.builder();
          reader->read(i, out);
          if (text_of(sample["image"]) != pairs.at(decimal_key(i))) ++wrong;
          const std::vector<std::uint64_t> next{i, (i + 1) % 2000, 99'999};
          source.will_need(next);
          if (i % 5 == 0) reader->pause();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a reader outlives its source") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(10));
  auto source = std::make_unique<LmdbSource>(Lmdb{.path = raw.path});
  OwnedSample sample(source->schema());
  SampleBuilder out = sample.builder();
  const auto reader = source->open_reader();
  source.reset();
  reader->read(4, out);
  CHECK(text_of(sample["image"]) == numbered(10)["00000004"]);
}

TEST_CASE("advice stops while values are in the page cache") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(2000, 9000));
  const LmdbSource source({.path = raw.path});
  std::vector<std::uint64_t> batch(64);
  std::uint64_t last = 0;
  for (int round = 0; round < 200; ++round) {
    std::iota(batch.begin(), batch.end(), static_cast<std::uint64_t>(round) * 7 % 1900);
    source.will_need(batch);
    if (round == 99) last = source.values_advised();
  }
  CHECK(last > 0);
  CHECK(source.values_advised() == last);
}

TEST_CASE("advice begins again when values leave the page cache") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(3000, 9000));
  const LmdbSource source({.path = raw.path});
  std::vector<std::uint64_t> batch(64);
  const auto advise = [&](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      std::iota(batch.begin(), batch.end(), static_cast<std::uint64_t>(round) * 97 % 2900);
      source.will_need(batch);
    }
  };
  advise(200);
  const std::uint64_t before = source.values_advised();
  const int fd = ::open((folder / "a/data.mdb").c_str(), O_RDWR);
  ::fsync(fd);
  // Pages in use by a map would stay, but advice touches none.
  bool dropped = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
  void* map = ::mmap(nullptr, 4096 * 64, PROT_READ, MAP_SHARED, fd, 4096 * 2000);
  std::vector<unsigned char> pages(64);
  dropped = dropped && ::mincore(map, 4096 * 64, pages.data()) == 0 && (pages[0] & 1) == 0;
  ::munmap(map, 4096 * 64);
  ::close(fd);
  if (!dropped) PENSTOCK_SKIP("this file system does not drop pages from its cache");
  advise(10);
  CHECK(source.values_advised() > before);
}
