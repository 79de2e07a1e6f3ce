// SPDX-License-Identifier: Apache-2.0
// Several stores that are read as one.
#include <penstock/sources/lmdb.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/write.hpp>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Numbers from `first` on, with labels of two classes.
struct Numbers {
  std::uint64_t first, count;
  ClassNames classes = ClassNames::from_lines("even\nodd\n");

  std::uint64_t size() const { return count; }
  Schema schema() const { return Schema{{"text", DType::u8, {dynamic}}, {"label", DType::i64, {}, {}, classes}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const std::string text = "number " + std::to_string(first + i);
    const TensorView to = out.emplace(0, Shape{static_cast<std::int64_t>(text.size())});
    std::memcpy(to.data, text.data(), text.size());
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>((first + i) % 2));
  }
  std::string key(std::uint64_t i) const { return "k" + std::to_string(100000 + first + i); }
  static std::string name() { return "numbers"; }
  static std::string file() { return "none"; }
  std::uint64_t identity() const { return first * 1000 + count; }
};

void write_numbers(const std::string& path, const Numbers& numbers) { write(from(numbers), LmdbSink({.path = path})); }

std::string batches_of(const Pipeline& pipeline, unsigned threads) {
  Loader loader(pipeline | select_fields({"label"}) | batch(7), {.threads = threads});
  std::string all;
  for (Batch& batch : loader.epoch()) all += text_of(batch["label"]) + ";";
  return all;
}

}  // namespace

TEST_CASE("several stores have the records of each, one after the other") {
  const TempFolder folder;
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const std::string at = folder / std::to_string(round);
    std::vector<std::string> paths;
    std::uint64_t all = 0;
    const auto stores = 1 + random() % 6;
    for (std::uint64_t i = 0; i < stores; ++i) {
      const std::uint64_t count = random() % 3 == 0 ? 0 : random() % 40;
      paths.push_back(at + "/" + std::to_string(i) + ".lmdb");
      write_numbers(paths.back(), {.first = all, .count = count});
      all += count;
    }
    const LmdbSource joined({.paths = paths});
    const Numbers model{.first = 0, .count = all};
    REQUIRE(joined.size() == all);
    CHECK(joined.schema() == model.schema());
    const auto reader = joined.open_reader();
    const auto check = [&](std::uint64_t index) {
      OwnedSample sample(joined.schema());
      SampleBuilder out = sample.builder();
      reader->read(index, out);
      REQUIRE(text_of(sample["text"]) == "number " + std::to_string(index));
      REQUIRE(joined.key(index) == model.key(index));
    };
    for (std::uint64_t i = 0; i < all; ++i) check(i);
    for (int i = 0; i < 50 && all != 0; ++i) {
      std::vector<std::uint64_t> soon(random() % 9);
      for (std::uint64_t& index : soon) index = random() % all;
      joined.will_need(soon);
      reader->expect(soon);
      for (const std::uint64_t index : soon) check(index);
      if (random() % 4 == 0) reader->pause();
    }
    const auto labels = joined.labels("label");
    REQUIRE(labels);
    REQUIRE(labels->size() == all);
    for (std::uint64_t i = 0; i < all; ++i) REQUIRE((*labels)[i] == static_cast<std::int64_t>(i % 2));
    CHECK_FALSE(joined.labels("text"));
    if (all == 0) continue;
    const std::string whole = at + "/whole.lmdb";
    write_numbers(whole, model);
    const auto shuffled = [&](const Lmdb& options) { return from(options) | shuffle({.seed = 9}); };
    const std::string expected = batches_of(shuffled({.path = whole}), 1);
    CHECK(batches_of(shuffled({.paths = paths}), 1) == expected);
    CHECK(batches_of(shuffled({.paths = paths}), 3) == expected);
  }
}

TEST_CASE("errors of several stores name the record of all, and the store's file") {
  const TempFolder folder;
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{10}})
    write_numbers(folder / std::to_string(first), {.first = first, .count = 10});
  const LmdbSource joined({.paths = {folder / "0", folder / "10"}});
  CHECK(joined.file_of(9) == folder / "0/data.mdb");
  CHECK(joined.file_of(10) == folder / "10/data.mdb");
  for (const auto& past : {error_of([&] { joined.key(20); }), error_of([&] { joined.file_of(20); }),
                           error_of([&] { read_sample(joined, 20); })})
    CHECK(past.code() == Errc::not_found);
  CHECK(error_of([&] { read_sample(joined, 20); }).index() == 20);
  CHECK(joined.notes().front() == "2 stores, one after the other");
  // One byte of a record, found by its text.
  const std::string file = folder / "10/data.mdb";
  std::string bytes = text_in(file);
  for (std::size_t at = 0; (at = bytes.find("number 13", at)) != std::string::npos; ++at) bytes[at] = 'N';
  folder.write("10/data.mdb", bytes);
  const LmdbSource damaged({.paths = {folder / "0", folder / "10"}});
  const Error error = error_of([&] { read_sample(damaged, 13); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.index() == 13);
  CHECK(error.key() == "k100013");
  CHECK(error.file() == file);
}

TEST_CASE("stores that aren't alike are refused, and so is one that is named twice") {
  const TempFolder folder;
  write_numbers(folder / "a", {.first = 0, .count = 3});
  write_numbers(folder / "b", {.first = 3, .count = 3, .classes = ClassNames::from_lines("odd\neven\n")});
  const RawLmdb raw{folder / "raw"};
  raw.write({{"x", "y"}});
  const auto refused = [&](const std::vector<std::string>& paths) {
    return error_of([&] { LmdbSource({.paths = paths}); });
  };
  CHECK(refused({folder / "a", folder / "b"}).code() == Errc::schema_mismatch);
  CHECK(refused({folder / "a", folder / "b"}).cause().find("they differ in their classes") != std::string::npos);
  CHECK(refused({folder / "a", folder / "b"}).file() == folder / "b/data.mdb");
  CHECK(refused({folder / "a", folder / "raw"}).code() == Errc::schema_mismatch);
  CHECK(refused({folder / "a", folder / "a/"}).cause() == "a store is named twice");
  CHECK(refused({folder / "a", folder / "none"}).code() == Errc::not_found);
  CHECK(error_of([] { LmdbSource(Lmdb{}); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { LmdbSource({.path = folder / "a", .paths = {folder / "b"}}); }).code() ==
        Errc::invalid_argument);
}

TEST_CASE("a list of stores is opened as one, wherever it lies") {
  const TempFolder folder;
  write_numbers(folder / "x/a", {.first = 0, .count = 3});
  write_numbers(folder / "x/b", {.first = 3, .count = 4});
  folder.write("x/list.json", R"({"penstock": "stores", "form": "lmdb", "records": 7, "stores": ["a", "b"]})");
  std::filesystem::rename(folder / "x", folder / "y");
  const LmdbSource listed({.path = folder / "y/list.json"});
  CHECK(listed.size() == 7);
  CHECK(listed.file() == folder / "y/list.json");
  CHECK(read_text(listed, 6, "text") == "number 6");
  const auto refused = [&](const std::string& text) {
    folder.write("y/bad.json", text);
    const Error error = error_of([&] { LmdbSource({.path = folder / "y/bad.json"}); });
    CHECK(error.file() == folder / "y/bad.json");
    return error.code();
  };
  CHECK(refused("") == Errc::corrupt);
  CHECK(refused("{}") == Errc::corrupt);
  CHECK(refused("[1]") == Errc::corrupt);
  CHECK(refused(R"({"penstock": "stores", "form": "lmdb", "records": 0, "stores": []})") == Errc::corrupt);
  CHECK(refused(R"({"penstock": "stores", "version": 2, "form": "lmdb"})") == Errc::unsupported);
  CHECK(refused(R"({"penstock": "stores", "form": "lmdb", "records": 0, "stores": [3]})") == Errc::corrupt);
  CHECK(refused(R"({"penstock": "stores", "form": "tar", "records": 0, "stores": ["a"]})") == Errc::invalid_argument);
  CHECK(refused(R"({"penstock": "stores", "form": "lmdb", "records": 7, "stores": ["list.json"]})") == Errc::corrupt);
  for (const std::string number : {"-7", "7.0", "1e300", "18446744073709551616", "\"7\""})
    CHECK(refused(R"({"penstock": "stores", "form": "lmdb", "records": )" + number + R"(, "stores": ["a", "b"]})") ==
          Errc::corrupt);
}
