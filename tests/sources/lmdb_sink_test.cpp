// Writing stores: what comes out, what is refused, and going on behind a stop.
#include <penstock/sources/lmdb_sink.hpp>

#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/memory.hpp>

#include "raw_lmdb.hpp"
#include "source_checks.hpp"
#include "support/catch.hpp"
#include "temp_folder.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const Schema bytes_schema{{"image", DType::u8, {dynamic}}};
const std::string manifest_key("\0penstock", 9);

OwnedSample sample_of(const std::string& text) {
  OwnedSample sample(bytes_schema);
  SampleBuilder out = sample.builder();
  const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(text.size())});
  if (!text.empty()) std::memcpy(to.data(), text.data(), text.size());
  return sample;
}

void put(LmdbSink& sink, std::uint64_t position, const std::string& key, const std::string& text) {
  OwnedSample sample = sample_of(text);
  Sample view = sample.sample();
  sink.put({.position = position, .index = position, .key = key}, view);
}

// What `write` does with a sink, without threads; true when it reached the end.
bool run(LmdbSink& sink, const std::vector<std::pair<std::string, std::string>>& items,
         std::size_t stop_after = ~std::size_t{0}) {
  sink.open(bytes_schema, items.size());
  std::uint64_t position = 0;
  for (const auto& [key, text] : items) {
    if (position == stop_after) {
      sink.commit();
      return false;
    }
    if (!sink.has({.position = position, .index = position, .key = key})) put(sink, position, key, text);
    if (++position % 7 == 0) sink.commit();
  }
  sink.commit();
  sink.finish();
  return true;
}

using Items = std::vector<std::pair<std::string, std::string>>;

Items sorted_items(std::size_t count) {
  Items items;
  for (std::size_t i = 0; i < count; ++i)
    items.emplace_back("class/" + decimal_key(i), std::string(i * 31 % 6000, static_cast<char>('a' + i % 26)));
  return items;
}

Items shuffled_items(std::size_t count) {
  Items items;
  for (std::size_t i = 0; i < count; ++i) items.emplace_back("k" + std::to_string(i * 7919 % count), std::to_string(i));
  return items;
}

Errc code_of(const auto& act) { return error_of(act).code(); }

}  // namespace

TEST_CASE("records of many fields come back as they were") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic, dynamic, 3}, Collate::ragged()},
                      {"mask", DType::boolean, {2, 3}},
                      {"boxes", DType::f64, {dynamic, 4}, Collate::pad(9, -1.5)},
                      {"half", DType::f16, {3}},
                      {"label", DType::i64, {}},
                      {"none", DType::u32, {0}}};
  LmdbSink sink({.path = folder / "a", .classes = {"cat", "\xff\x00 dog", "ä"}});
  sink.open(schema, 5);
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
  CHECK(source.classes() == std::vector<std::string>{"cat", "\xff", "ä"});
  REQUIRE(source.size() == 5);
  for (const bool safe_read : {false, true}) {
    const LmdbSource again({.path = folder / "a", .safe_read = safe_read});
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

TEST_CASE("a writer that was killed before its first commit is continued") {
  for (const LmdbRecords records : {LmdbRecords::fields, LmdbRecords::raw}) {
    // The data file is not there yet, or half of what LMDB puts there first, or all of it.
    for (const std::uintmax_t bytes : {0u, 4096u, 8192u}) {
      const TempFolder folder;
      LmdbSink whole({.path = folder / "whole", .records = records});
      REQUIRE(run(whole, sorted_items(9)));
      LmdbSink({.path = folder / "part", .records = LmdbRecords::raw}).open(bytes_schema, 9);
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

TEST_CASE("fields of small records are aligned for their type") {
  const TempFolder folder;
  const Schema schema{{"a", DType::u8, {dynamic}}, {"x", DType::f64, {}}, {"y", DType::u16, {2}}};
  LmdbSink sink({.path = folder / "a", .sync = false});
  sink.open(schema, 100);
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
  sink.open(schema, 1);
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
          LmdbSink({.path = folder / "b", .records = LmdbRecords::raw, .field = "label"}).open(bytes_schema, 1);
        }) == Errc::schema_mismatch);
  CHECK(code_of([&] {
          LmdbSink({.path = folder / "b", .records = LmdbRecords::raw}).open({{"image", DType::f32, {dynamic}}}, 1);
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
  {
    LmdbSink part({.path = folder / "a", .classes = {"x"}, .job = "one"});
    REQUIRE_FALSE(run(part, sorted_items(20), 10));
  }
  const auto attempt = [](const LmdbSinkOptions& options, const Schema& schema) {
    return error_of([&] { LmdbSink(options).open(schema, 20); });
  };
  const std::string path = folder / "a";
  const Error other_job = attempt({.path = path, .classes = {"x"}, .job = "two"}, bytes_schema);
  CHECK(other_job.code() == Errc::state_mismatch);
  CHECK(mentions(other_job, "delete it"));
  CHECK(attempt({.path = path, .classes = {"y"}, .job = "one"}, bytes_schema).code() == Errc::state_mismatch);
  CHECK(attempt({.path = path, .keys = LmdbKeys::position, .classes = {"x"}, .job = "one"}, bytes_schema).code() ==
        Errc::state_mismatch);
  const Error other_schema = attempt({.path = path, .classes = {"x"}, .job = "one"}, {{"image", DType::u8, {7}}});
  CHECK(other_schema.code() == Errc::state_mismatch);
  CHECK(mentions(other_schema, "u8[?]"));
  LmdbSink rest({.path = folder / "a", .classes = {"x"}, .job = "one"});
  CHECK(run(rest, sorted_items(20)));
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
  CHECK(code_of([&] { LmdbSink({.path = folder / "foreign"}).open(bytes_schema, 5); }) == Errc::invalid_argument);
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
  // Also when the first of them was written by a run that was stopped.
  const Items doubled{{"b", "1"}, {"a", "2"}, {"c", "3"}, {"a", "4"}};
  LmdbSink part({.path = folder / "part"});
  REQUIRE_FALSE(run(part, doubled, 3));
  part = LmdbSink({.path = folder / "part"});
  CHECK(code_of([&] { run(part, doubled); }) == Errc::invalid_argument);
}

TEST_CASE("keys that LMDB can't hold are refused") {
  const TempFolder folder;
  LmdbSink sink({.path = folder / "a"});
  sink.open(bytes_schema, 3);
  put(sink, 0, std::string(511, 'k'), "fits");
  const Error error = error_of([&] { put(sink, 1, std::string(512, 'k'), "too long"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "512 bytes"));
  CHECK(code_of([&] { put(sink, 1, manifest_key, "reserved"); }) == Errc::invalid_argument);
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
      sink.open(bytes_schema, items.size());
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
