// SPDX-License-Identifier: Apache-2.0
// What values mean: Caffe's Datum, and which kind a store holds.
#include <penstock/sources/lmdb.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string number(std::uint64_t field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}
std::string bytes(std::uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}
std::string one_float(float value) {
  std::string out = varint(6 << 3 | 5) + std::string(4, '\0');
  std::memcpy(out.data() + out.size() - 4, &value, 4);
  return out;
}
std::string size_of_image(std::int64_t c, std::int64_t h, std::int64_t w) {
  return number(1, c) + number(2, h) + number(3, w);
}

LmdbSource datum_store(const TempFolder& folder, const Pairs& pairs) {
  static int stores = 0;
  const RawLmdb raw{folder / ("datum" + std::to_string(stores++))};
  raw.write(pairs);
  return LmdbSource({.path = raw.path, .values = LmdbValues::datum});
}

}  // namespace

TEST_CASE("datum with encoded images") {
  const TempFolder folder;
  const LmdbSource source =
      datum_store(folder, {{"00000000_a", bytes(4, "jpeg one") + number(5, 7) + number(7, 1)},
                           {"00000001_b", number(7, 1) + number(5, -2) + size_of_image(3, 9, 9) + bytes(4, "jpeg two") +
                                              number(99, 5) + bytes(100, "more")}});
  CHECK(source.schema().to_string() == "{image: u8[?], label: i64[]}");
  CHECK(read_text(source, 0) == "jpeg one");
  CHECK(read_label(source, 0) == 7);
  CHECK(read_text(source, 1) == "jpeg two");
  CHECK(read_label(source, 1) == -2);
}

TEST_CASE("labels of datums are had without their images") {
  const TempFolder folder;
  const LmdbSource source = datum_store(folder, {{"a", number(5, 7) + bytes(4, "jpeg") + number(7, 1)},
                                                 {"b", bytes(4, "x") + number(5, -1) + number(7, 1)}});
  CHECK(source.labels("label") == std::vector<std::int64_t>{7, -1});
  CHECK(source.labels("image") == std::nullopt);
  const LmdbSource damaged = datum_store(folder, {{"a", number(5, 7) + number(7, 1)}, {"b", "\xff"}});
  const Error error = error_of([&] { (void)damaged.labels("label"); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.key() == "b");
  CHECK(error.index() == 1);
}

TEST_CASE("datum with pixels") {
  const TempFolder folder;
  const LmdbSource source = datum_store(folder, {{"0", size_of_image(1, 2, 3) + bytes(4, "abcdef") + number(5, 1)},
                                                 {"1", bytes(4, "ghijkl") + size_of_image(1, 2, 3)},
                                                 {"2", bytes(4, "ghijkl") + size_of_image(1, 3, 2)},
                                                 {"3", bytes(4, "jpeg") + number(7, 1)}});
  CHECK(source.schema().to_string() == "{image: u8[1, 2, 3], label: i64[]}");
  CHECK(read_text(source, 1) == "ghijkl");
  CHECK(read_label(source, 1) == 0);
  const Error other_size = error_of([&] { read_sample(source, 2); });
  CHECK(other_size.code() == Errc::unsupported);
  CHECK(other_size.key() == "2");
  CHECK(error_of([&] { read_sample(source, 3); }).code() == Errc::unsupported);
}

TEST_CASE("datum with floats") {
  const TempFolder folder;
  const float values[2] = {1.5f, -2.f};
  const LmdbSource source = datum_store(
      folder, {{"0", size_of_image(1, 1, 2) + one_float(1.5f) + number(5, 3) + one_float(-2.f)},
               {"1", size_of_image(1, 1, 2) + bytes(6, std::string(reinterpret_cast<const char*>(values), 8))}});
  CHECK(source.schema().to_string() == "{image: f32[1, 1, 2], label: i64[]}");
  for (const std::uint64_t i : {0u, 1u}) {
    const OwnedSample sample = read_sample(source, i);
    CHECK(sample["image"].as<float, 3>()(0, 0, 0) == 1.5f);
    CHECK(sample["image"].as<float, 3>()(0, 0, 1) == -2.f);
  }
}

TEST_CASE("datum that is none") {
  const TempFolder folder;
  const std::string good = bytes(4, "jpeg") + number(7, 1);
  const std::vector<std::string> bad{"\xff\xd8\xff\xe0 a JPEG file",  // its first bytes are a tag of wire type 7
                                     "\x22\x7ftoo short",             // data of 127 bytes
                                     "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",  // a number of 65 bits
                                     "\x08",                                          // ends inside a number
                                     "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  // data of 2^64 - 1 bytes
                                     size_of_image(1, 2, 3) + bytes(4, "abcde"),      // 5 of 6 pixels
                                     size_of_image(-1, 2, -3) + bytes(4, "abcdef"),   //
                                     size_of_image(0x7fffffff, 0x7fffffff, 0x7fffffff) + bytes(4, "abcdef"),
                                     size_of_image(1, 1, 1) + bytes(6, "abcde"),  // a float and a quarter
                                     number(4, 3),                                // data as a number
                                     std::string("\0\0", 2)};
  for (const std::string& text : bad) {
    const LmdbSource source = datum_store(folder, {{"0", good}, {"1", text}});
    const Error error = error_of([&] { read_sample(source, 1); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.key() == "1");
    CHECK(error.index() == 1);
    CHECK(error.offset().has_value());
    CHECK(error_of([&] { datum_store(folder, {{"0", text}}); }).code() == Errc::corrupt);
  }
}

TEST_CASE("a bad first datum does not decide what the others are") {
  const TempFolder folder;
  const auto refused = [](const LmdbSource& source) {
    std::vector<std::uint64_t> indices;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      try {
        read_sample(source, i);
      } catch (const Error& error) {
        CHECK(error.sample_scoped());
        CHECK(error.index() == i);
        indices.push_back(i);
      }
    }
    return indices;
  };
  Pairs pairs;
  for (std::uint64_t i = 0; i < 30; ++i) pairs[decimal_key(i)] = bytes(4, "jpeg") + number(7, 1) + number(5, 3);
  for (const std::string first : {"garbage", ""}) {
    pairs[decimal_key(0)] = first;
    const LmdbSource source = datum_store(folder, pairs);
    CHECK(source.schema().to_string() == "{image: u8[?], label: i64[]}");
    CHECK(refused(source) == std::vector<std::uint64_t>{0});
    CHECK(read_text(source, 1) == "jpeg");
  }
  SECTION("nor do many bad ones") {
    for (std::uint64_t i = 0; i < 1000; ++i)
      pairs[decimal_key(i)] = i < 900 ? "garbage" : size_of_image(1, 1, 2) + bytes(4, "ab");
    CHECK(datum_store(folder, pairs).schema().to_string() == "{image: u8[1, 1, 2], label: i64[]}");
  }
  SECTION("where none is good, there is no schema") {
    for (std::uint64_t i = 0; i < 30; ++i) pairs[decimal_key(i)] = "garbage";
    const Error error = error_of([&] { datum_store(folder, pairs); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.index() == 0);
    CHECK(error.key() == decimal_key(0));
  }
  SECTION("where none has an image, none is bad") {
    for (auto& pair : pairs) pair.second.clear();
    CHECK(refused(datum_store(folder, pairs)).empty());
  }
}

TEST_CASE("damaged datum never reads outside of its value") {
  const TempFolder folder;
  const std::string good = size_of_image(1, 2, 2) + one_float(1) + one_float(2) + bytes(6, std::string(8, 'f')) +
                           number(5, 3) + bytes(9, "x");
  std::mt19937 random(1);
  Pairs pairs{{"0", good}};
  for (int i = 1; i < 4000; ++i) {
    std::string text = good.substr(0, 1 + random() % good.size());
    for (unsigned flips = random() % 4; flips != 0; --flips) text[random() % text.size()] = static_cast<char>(random());
    pairs[std::to_string(i)] = text;
  }
  const LmdbSource source = datum_store(folder, pairs);
  int refused = 0;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    try {
      read_sample(source, i);
    } catch (const Error& error) {
      ++refused;
      if (error.code() != Errc::corrupt && error.code() != Errc::unsupported) FAIL(error.what());
    }
  }
  CHECK(refused > 2000);
}

TEST_CASE("the kind of values must fit the store") {
  const TempFolder folder;
  const RawLmdb raw{folder / "raw"};
  raw.write(numbered(3));
  const Error error = error_of([&] { LmdbSource({.path = raw.path, .values = LmdbValues::records}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "manifest"));
  CHECK(LmdbSource({.path = raw.path}).values() == LmdbValues::raw);
}

TEST_CASE("named tables are not taken for records") {
  const TempFolder folder;
  const RawLmdb raw{folder / "named"};
  raw.write({{"a", std::string(48, 'x')}});  // a record as long as a table's own
  CHECK(read_text(LmdbSource({.path = raw.path}), 0) == std::string(48, 'x'));
  MDB_env* env = nullptr;
  must(mdb_env_create(&env));
  must(mdb_env_set_maxdbs(env, 2));
  must(mdb_env_open(env, raw.path.c_str(), MDB_NOSYNC, 0644));
  MDB_txn* txn = nullptr;
  MDB_dbi table = 0;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, "images", MDB_CREATE, &table));
  must(mdb_txn_commit(txn));
  mdb_env_close(env);
  const Error error = error_of([&] { LmdbSource({.path = raw.path}); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.file() == raw.path + "/data.mdb");
  CHECK(mentions(error, "\"images\""));
}
