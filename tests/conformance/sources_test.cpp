// SPDX-License-Identifier: Apache-2.0
// The stores, held to the contract of a source.
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/json_lines.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/source.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_source;
using ps::testing::GeneratedRecords;

TEST_CASE("files keep the contract of a source") {
  const TempFolder folder;
  for (int i = 0; i < 40; ++i)
    folder.write((i % 3 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".jpg",
                 std::string(static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i % 26)));
  const auto make = [&] { return ps::FilesSource({.root = folder.path().string()}); };
  const auto part = [&] { return ps::share(ps::FilesSource({.root = folder / "cat"})); };
  CHECK(check_source(make, {.unique_keys = true, .other = part}).text() == "");
}

TEST_CASE("CSV keeps the contract of a source") {
  const TempFolder folder;
  for (const char* name : {"t-1.csv", "t-2.csv"}) {
    std::string text = "name,a,b\n";
    for (int i = 0; i < 150; ++i)
      text += (i % 5 == 0 ? "\"two\nlines, \"\"quoted\"\"\"," : "x" + std::to_string(i) + ",") + std::to_string(i * i) +
              "," + std::to_string(i) + ".25\r\n";
    folder.write(name, text);
  }
  const auto one = [&] { return ps::share(ps::CsvSource({.path = folder / "t-1.csv"})); };
  for (const ps::FileAccess access : {ps::FileAccess::map, ps::FileAccess::read}) {
    INFO("access " << static_cast<int>(access));
    const auto make = [&] {
      return ps::CsvSource({.path = folder / "t-*.csv", .vectors = {{"v", {"b", "a"}}}, .access = access});
    };
    CHECK(check_source(make, {.unique_keys = true, .other = one}).text() == "");
  }
  folder.write("bad.csv", "a,b\n1,2\n3,x\n4\n5,6\n");
  const auto bad = [&] { return ps::Csv{.path = folder / "bad.csv", .vectors = {{"v", {"a", "b"}}}}; };
  CHECK_FALSE(check_source(bad).passed());
  CHECK(check_source(bad, {.allow_bad_records = true}).text() == "");
}

TEST_CASE("lines of JSON keep the contract of a source") {
  const TempFolder folder;
  for (const char* name : {"t-1.jsonl", "t-2.jsonl"}) {
    std::string text;
    for (int i = 0; i < 150; ++i) {
      std::string tokens;
      for (int k = 0; k < i % 7; ++k) tokens += (k == 0 ? "" : ", ") + std::to_string(i * k);
      text += "{\"name\": \"a\\u00e4" + std::string(static_cast<std::size_t>(i % 5), 'x') +
              "\", \"meta\": {\"kind\": \"" + (i % 3 == 0 ? "cat" : "dog") + "\"}, \"tokens\": [" + tokens +
              "], \"y\": " + std::to_string(i) + ".25}\r\n";
    }
    folder.write(name, text);
  }
  using Type = ps::JsonType;
  const std::vector<ps::JsonField> fields{{.member = "name", .type = Type::text},
                                          {.member = "meta.kind", .type = Type::classes},
                                          {.member = "tokens", .dtype = ps::DType::i32, .shape = {ps::dynamic}},
                                          {.member = "y"}};
  const auto one = [&] { return ps::share(ps::JsonLinesSource({.path = folder / "t-1.jsonl"})); };
  for (const ps::FileAccess access : {ps::FileAccess::map, ps::FileAccess::read}) {
    INFO("access " << static_cast<int>(access));
    const auto make = [&] {
      return ps::JsonLinesSource({.path = folder / "t-*.jsonl", .fields = fields, .access = access});
    };
    CHECK(check_source(make, {.unique_keys = true, .other = one}).text() == "");
  }
  folder.write("bad.jsonl", "{\"y\":1}\n{\"y\":\n{}\n{\"y\":2}\n");
  const auto bad = [&] { return ps::JsonLines{.path = folder / "bad.jsonl", .fields = {{.member = "y"}}}; };
  CHECK_FALSE(check_source(bad).passed());
  CHECK(check_source(bad, {.allow_bad_records = true}).text() == "");
}

TEST_CASE("LMDB keeps the contract of a source") {
  const TempFolder folder;
  const std::string records = folder / "records.lmdb", raw = folder / "raw.lmdb";
  ps::write(ps::from(GeneratedRecords(300)), ps::LmdbSink({.path = records}));
  ps::write(ps::from(GeneratedRecords(50)), ps::LmdbSink({.path = raw, .records = ps::LmdbRecords::raw}));
  const auto other = [&] { return ps::share(ps::LmdbSource({.path = raw})); };
  for (const ps::FileAccess access : {ps::FileAccess::map, ps::FileAccess::read}) {
    INFO("access " << static_cast<int>(access));
    CHECK(check_source([&] { return ps::LmdbSource({.path = records, .access = access}); },
                       {.unique_keys = true, .other = other})
              .text() == "");
    CHECK(check_source([&] { return ps::LmdbSource({.path = raw, .access = access}); }, {.unique_keys = true}).text() ==
          "");
  }
}

TEST_CASE("WebDataset keeps the contract of a source") {
  const TempFolder folder;
  ps::write(ps::from(GeneratedRecords(130)), ps::WebDatasetSink({.path = folder / "train", .max_samples = 50}));
  const auto first = [&] { return ps::share(ps::WebDatasetSource({.path = folder / "train-000000.tar"})); };
  for (const ps::FileAccess access : {ps::FileAccess::map, ps::FileAccess::read}) {
    INFO("access " << static_cast<int>(access));
    CHECK(check_source([&] { return ps::WebDatasetSource({.path = folder.path().string(), .access = access}); },
                       {.unique_keys = true, .other = first})
              .text() == "");
  }
}

TEST_CASE("joins of stores keep the contract of a source") {
  const TempFolder folder;
  ps::write(ps::from(GeneratedRecords(60)), ps::LmdbSink({.path = folder / "a.lmdb"}));
  ps::write(ps::from(GeneratedRecords(60)), ps::WebDatasetSink({.path = folder / "b"}));
  const auto lmdb = [&] { return ps::LmdbSource({.path = folder / "a.lmdb"}); };
  const auto shards = [&] {
    return ps::WebDatasetSource({.path = folder / "b-000000.tar", .fields = {{"image", "bin"}, {"label", "cls"}}});
  };
  CHECK(check_source([&] { return ps::concat(lmdb(), shards(), GeneratedRecords(5)); }).text() == "");
  CHECK(check_source([&] { return ps::interleave(shards(), lmdb()); }).text() == "");
  CHECK(check_source([&] { return ps::zip({{lmdb()}, {shards(), "shard_"}}); }, {.unique_keys = true}).text() == "");
}
