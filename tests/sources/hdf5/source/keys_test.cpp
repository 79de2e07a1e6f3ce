// SPDX-License-Identifier: Apache-2.0
// Keys of records: the dataset that has them, and how they are read.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Kind = H5Type::Kind;
constexpr hsize_t rows = 2500;

// What the values of a column mean as keys.
std::vector<std::string> keys_in(const H5Column& column) {
  std::vector<std::string> keys;
  for (const H5Value& value : column.rows) {
    std::uint64_t number = 0;
    std::memcpy(&number, value.bytes.data(), std::min(value.bytes.size(), sizeof number));
    const auto negative = [&]<class T>(T as) {
      std::memcpy(&as, value.bytes.data(), sizeof as);
      return std::to_string(as);
    };
    if (!column.field.shape.fixed())
      keys.push_back(value.bytes);
    else if (column.field.dtype == DType::i16)
      keys.push_back(negative(std::int16_t{}));
    else if (column.field.dtype == DType::i64)
      keys.push_back(negative(std::int64_t{}));
    else
      keys.push_back(std::to_string(number));
  }
  return keys;
}

H5Data in_chunks(H5Data data, hsize_t chunk, std::vector<H5Filter> filters = {}) {
  data.layout = H5D_CHUNKED;
  data.chunk = data.shape;
  data.chunk[0] = chunk;
  data.filters = std::move(filters);
  return data;
}

H5Data text(const char* path, hsize_t count = rows) {
  return {.path = path, .type = {.kind = Kind::text}, .shape = {count}};
}
H5Data fixed(const char* path, H5T_str_t padding = H5T_STR_NULLPAD, hsize_t count = rows) {
  return {.path = path, .type = {.kind = Kind::fixed_text, .bytes = 9, .padding = padding}, .shape = {count}};
}
H5Data texts(const char* path, const std::vector<std::string>& values) {
  H5Data data = text(path, values.size());
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  data.values = bytes_of(pointers);
  return data;
}

std::vector<std::uint64_t> shuffled_numbers(std::uint64_t seed) {
  std::vector<std::uint64_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
  return numbers;
}

void set_attribute(const std::string& path, const char* name, const std::vector<std::string>& values) {
  const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)), type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  const hsize_t count = values.size();
  const H5Id space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr));
  const H5Id attribute(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  h5_must(H5Awrite(attribute, type, pointers.data()));
}

bool has_note(const Hdf5Source& source, const std::string& words) {
  return std::ranges::any_of(source.notes(),
                             [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

// A source of every value of the schema, with the keys given.
struct Keyed {
  std::vector<std::string> keys;
  std::uint64_t size() const { return keys.size(); }
  Schema schema() const { return {{"x", DType::i64, {}}}; }
  std::string key(std::uint64_t i) const { return keys.at(i); }
  void read(std::uint64_t i, SampleBuilder& out) const { out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i)); }
};

}  // namespace

TEST_CASE("keys of every type, layout and filter are what the library reads, in any order and on any thread") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  H5Data narrow = in_chunks({.path = "narrow", .type = h5_type<std::uint32_t>(), .shape = {rows}}, 100);
  narrow.type.precision = 21;
  H5Data left = in_chunks(fixed("left"), 64, {H5Filter::deflate});
  left.left_out = {3, 7};
  H5Data compact{.path = "compact", .type = h5_type<std::int16_t>(), .shape = {rows}, .layout = H5D_COMPACT};
  const H5Type row = h5_compound(
      {{"a", h5_real(8)}, {"id", {.kind = Kind::fixed_text, .bytes = 7}}, {"n", h5_integer(8, true, true)}});
  const std::vector<H5Data> data{
      text("variable"),
      in_chunks(text("variable_chunks"), 100),
      in_chunks(text("variable_packed"), 2000, {H5Filter::deflate}),
      fixed("fixed"),
      fixed("terminated", H5T_STR_NULLTERM),
      fixed("spaces", H5T_STR_SPACEPAD),
      in_chunks(fixed("plain_chunks"), 30),
      in_chunks(fixed("one_a_chunk"), 1, {H5Filter::deflate}),
      in_chunks(fixed("packed"), 999, {H5Filter::shuffle, H5Filter::deflate, H5Filter::fletcher32}),
      left,
      {.path = "column", .type = {.kind = Kind::fixed_text, .bytes = 5}, .shape = {rows, 1}},
      {.path = "u8", .type = h5_type<std::uint8_t>(), .shape = {rows, 1, 1}},
      {.path = "big", .type = h5_integer(2, true, true), .shape = {rows}},
      narrow,
      compact,
      in_chunks(counting<std::uint16_t>("scaled", {rows}), 50, {H5Filter::scaleoffset}),
      in_chunks({.path = "rows", .type = row, .shape = {rows}}, 77, {H5Filter::deflate})};
  std::vector<H5Data> all = data;
  all.push_back(counting<std::uint8_t>("x", {rows, 3}));
  write_h5(path, {.data = all});
  std::vector<std::pair<std::string, std::vector<std::string>>> expected;
  for (const H5Column& column : columns_of(path, data))
    if (column.field.dtype != DType::f64) expected.emplace_back(column.field.name, keys_in(column));
  REQUIRE(expected.size() == data.size() + 1);
  for (const auto& [name, keys] : expected)
    for (const auto& [keep_bytes, isolate] :
         {std::pair{Hdf5{}.max_kept_bytes, false}, std::pair{std::size_t{0}, false},
          std::pair{std::size_t{20'000}, false}, std::pair{std::size_t{20'000}, true}}) {
      CAPTURE(name, keep_bytes, isolate);
      const Hdf5Source source(
          {.path = path, .fields = {{"x"}}, .key = name, .max_kept_bytes = keep_bytes, .isolate = isolate});
      REQUIRE(source.has_keys());
      CHECK(source.keys() == name);
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < rows; ++i) wrong += source.key(i) != keys[i];
      CHECK(wrong == 0);
      const auto order = shuffled_numbers(1);
      for (std::uint64_t i = 0; i < 300; ++i) wrong += source.key(order[i]) != keys[order[i]];
      CHECK(wrong == 0);
      CHECK(code_of([&] { (void)source.key(rows); }) == Errc::not_found);
      if (isolate) continue;
      std::atomic<std::uint64_t> wrong_there{0};
      std::vector<std::thread> threads;
      for (std::uint64_t t = 0; t < 3; ++t)
        threads.emplace_back([&, &keys = keys, t] {
          const auto numbers = shuffled_numbers(t);
          for (std::uint64_t i = 0; i < 400; ++i) wrong_there += source.key(numbers[i]) != keys[numbers[i]];
        });
      for (std::thread& thread : threads) thread.join();
      CHECK(wrong_there == 0);
    }
}

TEST_CASE("a dataset that has keys is no field, unless it is wanted as one") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(path, {.data = {counting<std::uint8_t>("x", {4}), texts("who/id", {"d", "c", "", "a"})}});
  CHECK_FALSE(Hdf5Source({.path = path}).has_keys());
  CHECK(Hdf5Source({.path = path}).schema().to_string() == "{who/id: u8[?], x: u8[]}");
  for (const std::string name : {"who/id", "/who/id"}) {
    const Hdf5Source source({.path = path, .key = name});
    CHECK(source.schema().to_string() == "{x: u8[]}");
    CHECK(source.keys() == "who/id");
    CHECK(source.key(0) == "d");
    CHECK(source.key(2) == "");
    CHECK(source.key(3) == "a");
    CHECK(has_note(source, "keys: who/id, contiguous; read 4 at a time when they are asked for, by the HDF5 library"));
  }
  const Hdf5Source both({.path = path, .fields = {{"who/id", "", "id"}, {"x"}}, .key = "who/id"});
  CHECK(read_text(both, 1, "id") == "c");
  CHECK(both.key(1) == "c");
  CHECK(both.identity() != Hdf5Source({.path = path, .fields = {{"who/id", "", "id"}, {"x"}}}).identity());
  const Error none = error_of([&] { (void)Hdf5Source({.path = path}).key(0); });
  CHECK(none.code() == Errc::invalid_argument);
  CHECK(mentions(none, "name the one that has them in `key`"));
  CHECK(in_child([&] { return code_of([&] { (void)both.key(0); }) == Errc::forked; }));
}

TEST_CASE("what can give no keys is refused") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(
      path,
      {.data = {
           counting<std::uint8_t>("x", {4, 2}),
           counting<float>("float", {4}),
           {.path = "sequence",
            .type = {.kind = Kind::sequence, .members = {{"", h5_type<std::uint8_t>()}}},
            .shape = {4}},
           {.path = "pairs", .type = {.kind = Kind::text}, .shape = {4, 2}},
           {.path = "opaque", .type = {.kind = Kind::opaque, .bytes = 3}, .shape = {4}},
           {.path = "truth", .type = {.kind = Kind::boolean}, .shape = {4}},
           {.path = "rows", .type = h5_compound({{"id", h5_type<std::int64_t>()}, {"f", h5_real(4)}}), .shape = {4}},
           text("short", 3)}});
  const auto refused = [&](const std::string& key, const std::vector<Hdf5Field>& fields = {{"x"}}) {
    const Error error = error_of([&] { Hdf5Source({.path = path, .fields = fields, .key = key}); });
    CHECK(error.file() == path);
    return std::pair(error.code(), error.cause());
  };
  for (const char* const key : {"float", "sequence", "pairs", "opaque", "truth", "rows", "rows/f", "x"}) {
    INFO(key << ": " << refused(key).second);
    CHECK(refused(key).first == Errc::unsupported);
  }
  CHECK(refused("float").second.find("keys are strings or whole numbers, one a record") != std::string::npos);
  for (const char* const key : {"none", "none/id", "rows/none", "/"}) {
    INFO(key << ": " << refused(key).second);
    CHECK((refused(key).first == Errc::not_found || refused(key).first == Errc::invalid_argument));
  }
  CHECK(refused("short").first == Errc::schema_mismatch);
  CHECK(refused("short").second.find("'short' has 3, of 4 records") != std::string::npos);
  write_h5(folder / "b.h5", {.data = {text("id", 4)}});
  const Error nothing = error_of([&] { Hdf5Source({.path = folder / "b.h5", .key = "id"}); });
  CHECK(nothing.code() == Errc::schema_mismatch);
  CHECK(mentions(nothing, "nothing but its keys"));
  CHECK(Hdf5Source({.path = folder / "b.h5", .fields = {{"id"}}, .key = "id"}).schema().to_string() == "{id: u8[?]}");
}

TEST_CASE("files of the sink mark their keys, which a source has without being told") {
  const TempFolder folder;
  const Keyed records{{"cat/7", "cat/8", "dog/1", "Ä\n", "dog/0"}};
  for (const std::string keys : {"key", "/names/of/all"}) {
    const std::string path = folder / (keys == "key" ? "a.h5" : "b.h5");
    write(from(records), Hdf5Sink({.path = path, .single_file = true, .keys = keys}));
    for (const bool isolate : {false, true}) {
      const Hdf5Source source({.path = path, .isolate = isolate});
      CHECK(source.schema().to_string() == "{x: i64[]}");
      CHECK(source.keys() == (keys == "key" ? "key" : "names/of/all"));
      for (std::uint64_t i = 0; i < records.size(); ++i) CHECK(source.key(i) == records.key(i));
    }
  }
  write(from(records), Hdf5Sink({.path = folder / "none.h5", .single_file = true}));
  CHECK_FALSE(Hdf5Source({.path = folder / "none.h5"}).has_keys());

  // Several files have keys where each has.
  write(from(Keyed{{"p", "q", "r"}}), Hdf5Sink({.path = folder / "c.h5", .single_file = true, .keys = "key"}));
  const Hdf5Source several({.paths = {folder / "a.h5", folder / "c.h5", folder / "b.h5"}});
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < several.size(); ++i) all.push_back(several.key(i));
  std::vector<std::string> expected = records.keys;
  expected.insert(expected.end(), {"p", "q", "r"});
  expected.insert(expected.end(), records.keys.begin(), records.keys.end());
  CHECK(all == expected);
  const Hdf5Source mixed({.paths = {folder / "a.h5", folder / "none.h5"}});
  CHECK(mixed.size() == 10);
  CHECK_FALSE(mixed.has_keys());
  CHECK(has_note(mixed, "keys: left out, because of " + folder / "none.h5" + ": it marks no dataset of keys"));
  CHECK(code_of([&] {
          Hdf5Source({.paths = {folder / "a.h5", folder / "none.h5"}, .key = "key"});
        }) == Errc::not_found);
}

TEST_CASE("a mark that leads nowhere leaves the file as it would be without") {
  const TempFolder folder;
  int number = 0;
  for (const std::vector<std::string>& mark :
       std::vector<std::vector<std::string>>{{"none"}, {"x"}, {"f"}, {""}, {"id", "x"}, {"id"}}) {
    const std::string path = folder / (std::to_string(number++) + ".h5");
    write_h5(path, {.data = {counting<std::uint8_t>("x", {4, 2}), counting<float>("f", {4}),
                             texts("id", {"a", "b", "c", "d"})}});
    set_attribute(path, "penstock_keys", mark);
    const bool right = mark == std::vector<std::string>{"id"};
    for (const bool isolate : {false, true}) {
      CAPTURE(mark.front(), mark.size(), isolate);
      const Hdf5Source source({.path = path, .isolate = isolate});
      CHECK(source.has_keys() == right);
      CHECK(source.schema().to_string() == (right ? "{f: f32[], x: u8[2]}" : "{f: f32[], id: u8[?], x: u8[2]}"));
      CHECK(Hdf5Source({.path = path, .key = "id", .isolate = isolate}).key(2) == "c");
      CHECK(has_note(source, "keys: left out, because of " + path) == (mark.size() == 1 && !right && !mark[0].empty()));
    }
  }
}

TEST_CASE("splits by key and by group, sinks and errors have the keys of HDF5") {
  const TempFolder folder;
  Keyed records;
  for (int i = 0; i < 5000; ++i) records.keys.push_back("patient-" + std::to_string(i % 70) + "/" + std::to_string(i));
  const std::string path = folder / "a.h5";
  write(from(records), Hdf5Sink({.path = path, .single_file = true, .keys = "key"}));
  for (const auto by : {SplitOptions::By::key, SplitOptions::By::group})
    for (const std::uint64_t part : {0u, 1u}) {
      const SplitOptions options{.shares = {0.7, 0.3}, .part = part, .by = by};
      const Pipeline there = from(Hdf5{.path = path}) | split(options), here = from(records) | split(options);
      std::vector<std::uint64_t> a(there.size()), b(here.size());
      there.fill(0, 0, a);
      here.fill(0, 0, b);
      CHECK(a == b);
    }
  write(from(Hdf5{.path = path}) | shuffle(), Hdf5Sink({.path = folder / "b.h5", .single_file = true, .keys = "id"}));
  const Hdf5Source again({.path = folder / "b.h5"});
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < again.size(); ++i) keys.push_back(again.key(i));
  std::ranges::sort(keys);
  std::ranges::sort(records.keys);
  CHECK(keys == records.keys);
}

TEST_CASE("damaged keys are errors of their records, and of no others") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  H5Data id = in_chunks(fixed("id", H5T_STR_NULLPAD, 5000), 100, {H5Filter::deflate});
  id.stored_as[20] = 1;  // says that it is not deflated
  write_h5(path, {.data = {id, counting<std::uint8_t>("x", {5000})}});
  {
    const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)), dataset(H5Dopen2(file, "id", H5P_DEFAULT));
    const hsize_t start[] = {2000};
    h5_must(H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, start, 10, "0123456789"));
  }
  for (const auto& [keep_bytes, isolate] : {std::pair{std::size_t{0}, false}, std::pair{Hdf5{}.max_kept_bytes, false},
                                            std::pair{Hdf5{}.max_kept_bytes, true}}) {
    const Hdf5Source source({.path = path, .key = "id", .max_kept_bytes = keep_bytes, .isolate = isolate});
    std::uint64_t bad = 0;
    for (std::uint64_t i = 0; i < 5000; ++i) try {
        (void)source.key(i);
      } catch (const Error& error) {
        CHECK((i >= 2000 && i < 2100));
        CHECK(error.code() == Errc::corrupt);
        CHECK(mentions(error, "dataset 'id': the chunk at [2000]"));
        ++bad;
      }
    CHECK(bad == 100);
  }
}

TEST_CASE("a key that is longer than any can be is refused, and its neighbours are not") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  std::vector<std::string> values(1500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = "k" + std::to_string(i);
  // One page of them would have more than a page may.
  values[7].assign(65'537, 'x');
  for (std::size_t i = 1100; i < 1105; ++i) values[i].assign(20u << 20, 'y');
  values[8].assign(65'536, 'z');
  write_h5(path, {.data = {texts("id", values), counting<std::uint8_t>("x", {1500})}});
  for (const bool isolate : {false, true}) {
    const Hdf5Source source({.path = path, .key = "id", .isolate = isolate});
    for (const std::uint64_t i : {0u, 6u, 8u, 9u, 1023u, 1024u, 1099u, 1105u, 1499u}) CHECK(source.key(i) == values[i]);
    for (const std::uint64_t i : {7u, 1100u, 1104u}) {
      const Error error = error_of([&] { (void)source.key(i); });
      CHECK(error.code() == Errc::limit_exceeded);
      CHECK(mentions(error, "row " + std::to_string(i)));
    }
  }
}

}  // namespace PENSTOCK_TEST_FILE
