// SPDX-License-Identifier: Apache-2.0
// Writing stores: what comes out, and how.
#include <penstock/sources/lmdb_sink.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/write.hpp>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/sink_checks.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("records of many fields come back as they were") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic, dynamic, 3}, Collate::ragged()},
                      {"mask", DType::boolean, {2, 3}},
                      {"boxes", DType::f64, {dynamic, 4}, Collate::pad(9, -1.5)},
                      {"half", DType::f16, {3}},
                      {"brain", DType::bf16, {2}},
                      {"label", DType::i64, {}, {}, {"cat", std::string("\xff\x00 dog", 6), "ä"}},
                      {"kind", DType::u8, {}, {}, {"x"}},
                      {"none", DType::u32, {0}}};
  LmdbSink sink({.path = folder / "a"});
  sink.open({schema, 5});
  const auto fill = [&](std::uint64_t i, OwnedSample& sample) {
    const auto n = static_cast<std::int64_t>(i);
    SampleBuilder out = sample.builder();
    for (std::size_t slot = 0; slot < schema.size(); ++slot) {
      Shape shape = schema[slot].shape;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if (shape[axis] == dynamic) shape[axis] = n + static_cast<std::int64_t>(axis);
      const TensorView to = out.emplace(slot, shape);
      for (std::size_t b = 0; b < to.bytes(); ++b)
        to.data[b] = static_cast<std::byte>(schema[slot].dtype == DType::boolean ? b % 2 : b * 7 + i);
    }
  };
  for (std::uint64_t i = 0; i < 5; ++i) {
    OwnedSample sample(schema);
    fill(i, sample);
    Sample view = sample.sample();
    // Keys of odd and even length put the small values at any address.
    sink.put({.position = i, .index = i, .key = std::string(i + 1, 'k')}, view);
  }
  sink.finish();

  const LmdbSource source({.path = folder / "a"});
  CHECK(source.schema() == schema);
  CHECK(source.schema().at("label").classes == ClassNames{"cat", std::string("\xff\x00 dog", 6), "ä"});
  REQUIRE(source.size() == 5);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const LmdbSource again({.path = folder / "a", .access = access});
    for (std::uint64_t i = 0; i < 5; ++i) {
      OwnedSample expected(schema);
      fill(i, expected);
      const OwnedSample got = read_sample(again, i);
      for (const Field& field : schema) {
        CHECK(got[field.name].shape == expected[field.name].shape);
        CHECK(text_of(got[field.name]) == text_of(expected[field.name]));
      }
    }
  }
}

TEST_CASE("fields of small records are aligned for their type") {
  const TempFolder folder;
  const Schema schema{{"a", DType::u8, {dynamic}}, {"x", DType::f64, {}}, {"y", DType::u16, {2}}};
  LmdbSink sink({.path = folder / "a", .sync = false});
  sink.open({schema, 100});
  for (std::uint64_t i = 0; i < 100; ++i) {
    OwnedSample sample(schema);
    SampleBuilder out = sample.builder();
    out.emplace<std::uint8_t, 1>("a", {static_cast<std::int64_t>(i)});
    out.scalar<double>("x", static_cast<double>(i));
    out.emplace<std::uint16_t, 1>("y", {2});
    Sample view = sample.sample();
    sink.put({.position = i, .index = i, .key = std::string(i + 1, 'k')}, view);
  }
  sink.finish();
  const LmdbSource source({.path = folder / "a"});
  const auto reader = source.open_reader();
  for (std::uint64_t i = 0; i < 100; ++i) {
    OwnedSample sample(schema);
    SampleBuilder out = sample.builder();
    reader->read(i, out);
    CHECK(reinterpret_cast<std::uintptr_t>(sample["x"].data) % 8 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(sample["y"].data) % 2 == 0);
    double x = 0;
    std::memcpy(&x, sample["x"].data, sizeof(x));
    CHECK(x == static_cast<double>(i));
  }
}

TEST_CASE("large records are viewed, aligned") {
  const TempFolder folder;
  const Schema schema{{"a", DType::u8, {dynamic}}, {"x", DType::f64, {dynamic}}};
  LmdbSink sink({.path = folder / "a"});
  sink.open({schema, 1});
  OwnedSample sample(schema);
  SampleBuilder out = sample.builder();
  out.emplace<std::uint8_t, 1>("a", {4321});
  out.emplace<double, 1>("x", {1000});
  Sample view = sample.sample();
  sink.put({.position = 0, .index = 0, .key = "odd"}, view);
  sink.finish();
  const LmdbSource source({.path = folder / "a"});
  OwnedSample got(schema);
  SampleBuilder to = got.builder();
  const auto reader = source.open_reader();
  reader->read(0, to);
  const std::byte* const seen = got["x"].data;
  CHECK(reinterpret_cast<std::uintptr_t>(seen) % 16 == 0);
  got.keep();
  CHECK(got["x"].data != seen);
}

TEST_CASE("raw records are what any reader of LMDB finds") {
  const TempFolder folder;
  LmdbSink sink({.path = folder / "a", .records = LmdbRecords::raw});
  CHECK(run(sink, {{"cat/1", "one"}, {"cat/2", ""}, {"dog/1", "three"}}));
  const RawLmdb written{folder / "a"};
  CHECK(written.read() == Pairs{{"cat/1", "one"}, {"cat/2", ""}, {"dog/1", "three"}});
  CHECK_FALSE(std::filesystem::exists(folder / "a/unfinished.json"));
  const LmdbSource source({.path = folder / "a"});
  CHECK(read_text(source, 2) == "three");
  CHECK(code_of([&] {
          LmdbSink({.path = folder / "b", .records = LmdbRecords::raw, .field = "label"}).open({bytes_schema, 1});
        }) == Errc::schema_mismatch);
  CHECK(code_of([&] {
          LmdbSink({.path = folder / "b", .records = LmdbRecords::raw}).open({{{"image", DType::f32, {dynamic}}}, 1});
        }) == Errc::schema_mismatch);
}

TEST_CASE("keys are positions where the source has none") {
  const TempFolder folder;
  LmdbSink sink({.path = folder / "a"});
  Items items;
  for (int i = 0; i < 120; ++i) items.emplace_back("", std::to_string(i));
  CHECK(run(sink, items));
  const LmdbSource source({.path = folder / "a"});
  CHECK(source.key(119) == "00000119");
  CHECK(source.key_passes() == 0);
  CHECK(read_text(source, 119) == "119");

  LmdbSink by_position({.path = folder / "b", .keys = LmdbKeys::position, .single_file = true});
  CHECK(run(by_position, sorted_items(20)));
  CHECK(LmdbSource({.path = folder / "b"}).key(7) == "00000007");
}

TEST_CASE("a pipeline is written to lmdb") {
  const TempFolder folder;
  Memory memory;
  std::vector<std::int32_t> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i);
  memory.add<std::int32_t>("x", {}, values);
  for (const bool again : {false, true}) {
    LmdbSink sink({.path = folder / "a", .sync = false});
    const WriteProgress progress = write(from(memory), sink, {.threads = 2});
    CHECK(progress.done == 1000);
    CHECK(progress.skipped == (again ? 1000 : 0));
    CHECK(sink.was_finished() == again);
  }
  const LmdbSource source({.path = folder / "a"});
  REQUIRE(source.size() == 1000);
  for (std::uint64_t i = 0; i < 1000; ++i)
    if (*read_sample(source, i)["x"].as<std::int32_t, 0>().data() != values[i]) FAIL(i);
}

TEST_CASE("a store of raw values is converted to records") {
  const TempFolder folder;
  const Pairs pairs = numbered(700, 900);
  RawLmdb{folder / "raw"}.write(pairs);
  LmdbSink sink({.path = folder / "a", .sync = false});
  CHECK(write(from(Lmdb{.path = folder / "raw"}), sink, {.threads = 3}).done == 700);
  const LmdbSource source({.path = folder / "a"});
  REQUIRE(source.size() == 700);
  std::uint64_t index = 0;
  for (const auto& [key, value] : pairs) {
    if (source.key(index) != key || read_text(source, index) != value) FAIL(key);
    ++index;
  }
}

TEST_CASE("keys that LMDB can't hold are refused") {
  const TempFolder folder;
  LmdbSink sink({.path = folder / "a"});
  sink.open({bytes_schema, 3});
  put(sink, 0, std::string(511, 'k'), "fits");
  const Error error = error_of([&] { put(sink, 1, std::string(512, 'k'), "too long"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "512 bytes"));
  CHECK(code_of([&] { put(sink, 1, std::string("\0penstock", 9), "reserved"); }) == Errc::invalid_argument);
  put(sink, 1, std::string("\0\0\0", 3), "before the manifest");
  sink.finish();
  CHECK(LmdbSource({.path = folder / "a"}).size() == 2);
  CHECK(read_text(LmdbSource({.path = folder / "a"}), 0) == "before the manifest");
}

TEST_CASE("the map grows as needed, and nothing is lost") {
  const TempFolder folder;
  for (const Items& items : {sorted_items(2000), shuffled_items(3000)}) {
    for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
      std::filesystem::remove_all(folder / "a");
      LmdbSink sink({.path = folder / "a", .records = records, .sync = false, .map_bytes = 1});
      sink.open({bytes_schema, items.size()});
      std::uint64_t position = 0;
      for (const auto& [key, text] : items) put(sink, position++, key, text);  // one transaction, were there room
      sink.finish();
      const LmdbSource source({.path = folder / "a"});
      REQUIRE(source.size() == items.size());
      const Pairs expected(items.begin(), items.end());
      std::uint64_t index = 0;
      for (const auto& [key, text] : expected) {
        if (source.key(index) != key || read_text(source, index) != text) FAIL(key);
        ++index;
      }
    }
  }
  LmdbSink sink({.path = folder / "huge", .sync = false, .map_bytes = 1});
  CHECK(run(sink, {{"a", std::string(30u << 20, 'x')}, {"b", "y"}}));
  CHECK(read_text(LmdbSource({.path = folder / "huge"}), 0).size() == 30u << 20);
}

TEST_CASE("a transaction gets the memory of the one before it, not the system's once more") {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  PENSTOCK_SKIP("what is freed is kept, or not, by another allocator than glibc's");
#endif
  const TempFolder folder;
  const Schema schema{{"value", DType::u8, {dynamic}}};
  LmdbSink sink({.path = folder / "a", .records = LmdbRecords::raw, .field = "value"});
  constexpr std::uint64_t transactions = 8, values = 400, pages = 3;
  sink.open({schema, transactions * values});
  OwnedSample sample(schema);
  const TensorView value = sample.builder().emplace(0, {pages * 4096 - 100});
  std::fill_n(value.data, value.bytes(), std::byte{7});
  const auto faults = [] {
    rusage usage{};
    REQUIRE(::getrusage(RUSAGE_THREAD, &usage) == 0);
    return static_cast<std::uint64_t>(usage.ru_minflt);
  };
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < transactions * values; ++i) {
    if (i == 2 * values) before = faults();
    Sample view = sample.sample();
    sink.put({.position = i, .index = i, .key = {}}, view);
    if (i % values == values - 1) sink.commit();
  }
  CHECK(faults() - before < (transactions - 2) * values * pages / 4);
  sink.finish();
}

TEST_CASE("an update that removes a large record has room for the list of its pages") {
  // LMDB lists each freed page, 512 on a page of the list: here 128 pages, where fewer than 105 are free.
  constexpr std::size_t page = 4096, large = 256 << 20;
  struct Zeros {
    std::size_t bytes;
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"x", DType::u8, {dynamic}}}; }
    std::string key(std::uint64_t) const { return std::to_string(bytes); }
    void read(std::uint64_t, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 1>("x", {static_cast<std::int64_t>(bytes)});
    }
  };
  const TempFolder folder;
  LmdbSinkOptions options{.path = folder / "a", .records = LmdbRecords::raw, .field = "x", .mode = LmdbMode::update};
  options.map_bytes = large + 105 * page;
  write(from(Zeros{large}), LmdbSink(options));
  options.job = "other";
  LmdbSink update(options);
  write(from(Zeros{1}), update);
  CHECK(update.updated().added == 1);
  CHECK(update.updated().removed == 1);
  CHECK(LmdbSource({.path = folder / "a", .values = LmdbValues::raw, .field = "x"}).size() == 1);
}

TEST_CASE("an update makes a store that of another job, and writes only what differs") {
  const TempFolder folder;
  struct Values {
    std::vector<int> values;
    std::string kind;
    std::uint64_t size() const { return values.size(); }
    Schema schema() const { return {{"x", DType::u8, {dynamic}, {}, {kind}}}; }
    void read(std::uint64_t i, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 1>("x", {1})(0) = static_cast<std::uint8_t>(values[i]);
    }
  };
  const auto pipeline = [](const std::vector<int>& values, const std::string& kind) {
    return from(Values{values, kind});
  };
  for (const LmdbRecords form : {LmdbRecords::fields, LmdbRecords::raw}) {
    const bool raw = form == LmdbRecords::raw;
    const auto options = [&](const std::string& job, LmdbMode mode) {
      return LmdbSinkOptions{
          .path = folder / (raw ? "raw" : "a"), .records = form, .field = "x", .job = job, .mode = mode};
    };
    LmdbSink first(options("one", LmdbMode::update));  // nothing is there yet
    write(pipeline({1, 2, 3, 4}, "one"), first);
    CHECK_FALSE(first.updated().updating);
    if (!raw)
      CHECK(code_of([&] {
              write(pipeline({1, 9, 3}, "two"), LmdbSink(options("two", LmdbMode::create)));
            }) == Errc::invalid_argument);
    LmdbSink second(options("two", LmdbMode::update));
    write(pipeline({1, 9, 3}, "two"), second);
    CHECK(second.updated().updating);
    CHECK(second.updated().kept == 2);
    CHECK(second.updated().replaced == 1);
    CHECK(second.updated().added == 0);
    CHECK(second.updated().removed == 1);
    CHECK_FALSE(second.was_finished());
    {
      const LmdbSource source({.path = folder / (raw ? "raw" : "a"), .field = "x"});
      REQUIRE(source.size() == 3);
      CHECK(read_text(source, 1, "x") == "\t");
      if (!raw) CHECK(source.schema().at("x").classes == ClassNames{"two"});
    }
    LmdbSink third(options("three", LmdbMode::update));
    write(pipeline({1, 9, 3, 4, 5}, "three"), third);
    CHECK(third.updated().kept == 3);
    CHECK(third.updated().added == 2);

    // Stopped in its middle it is an update still, for all others.
    {
      LmdbSink stopped(options("four", LmdbMode::update));
      std::stop_source stop;
      stop.request_stop();
      write(pipeline({1, 2}, "four"), stopped, {.stop = stop.get_token()});
    }
    CHECK(code_of([&] { LmdbSource({.path = folder / (raw ? "raw" : "a")}); }) == Errc::invalid_argument);
    for (const std::string job : {"three", "four"})
      CHECK(code_of([&] {
              write(pipeline({1, 2}, job), LmdbSink(options(job, LmdbMode::create)));
            }) == Errc::state_mismatch);
    LmdbSink rest(options("four", LmdbMode::update));
    write(pipeline({1, 2}, "four"), rest);
    CHECK(LmdbSource({.path = folder / (raw ? "raw" : "a"), .field = "x"}).size() == 2);
    if (raw) continue;
    LmdbSink again(options("four", LmdbMode::update));
    write(pipeline({1, 2}, "four"), again);
    CHECK(again.was_finished());
    Memory other;
    other.add<float>("y", {}, {1, 2});
    CHECK(code_of([&] { write(from(other), LmdbSink(options("four", LmdbMode::update))); }) == Errc::invalid_argument);
  }
}

TEST_CASE("a sink does nothing before it is open") {
  const TempFolder folder;
  LmdbSink sink({.path = folder / "t"});
  const Error closed = error_of([&] { sink.commit(); });
  CHECK(closed.code() == Errc::invalid_argument);
  CHECK(closed.source() == "lmdb");
  CHECK(closed.cause() == "LmdbSink: open() must come first");
}
