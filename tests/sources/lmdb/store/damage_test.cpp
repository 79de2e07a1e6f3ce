// SPDX-License-Identifier: Apache-2.0
// Stores that are cut short, changed, or made to do harm.
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const Schema schema{{"image", DType::u8, {dynamic}}, {"box", DType::f32, {dynamic, 4}}, {"label", DType::i64, {}}};
const std::string manifest_key("\0penstock", 9);

std::string image_of(std::uint64_t i) { return std::string(200 + i * 37 % 9000, static_cast<char>('a' + i % 26)); }

void write_records(const std::string& path, std::uint64_t count) {
  LmdbSink sink({.path = path, .sync = false});
  sink.open({schema, count});
  for (std::uint64_t i = 0; i < count; ++i) {
    OwnedSample sample(schema);
    SampleBuilder out = sample.builder();
    const std::string image = image_of(i);
    std::memcpy(out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(image.size())}).data(), image.data(),
                image.size());
    for (float& x : out.emplace<float, 2>("box", {static_cast<std::int64_t>(i % 3), 4})) x = static_cast<float>(i);
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
    Sample view = sample.sample();
    sink.put({.position = i, .index = i, .key = {}}, view);
  }
  sink.finish();
}

// A copy of a store in which `change` was applied to its records, each written back under its key.
template <class Change>
std::string changed(const TempFolder& folder, const std::string& from, const Change& change) {
  static int copies = 0;
  std::string path = folder / ("changed" + std::to_string(copies++));
  Pairs pairs = RawLmdb{from}.read();
  change(pairs);
  RawLmdb{path}.write(pairs);
  return path;
}

}  // namespace

TEST_CASE("a file that is no LMDB is refused, and nothing is made beside it") {
  for (const std::string& content :
       {std::string("x"), std::string(19, 'x'), std::string(20, '\0'), std::string(40'000, 'x')}) {
    const TempFolder folder;
    folder.write("a", content);
    folder.write("b/data.mdb", content);
    for (const char* const name : {"a", "b"}) {
      CAPTURE(content.size(), name);
      CHECK(code_of([&] { LmdbSource({.path = folder / name}); }) == Errc::corrupt);
    }
    std::size_t entries = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      CAPTURE(entry.path().string());
      ++entries;
      CHECK(
          (entry.path().filename() == "a" || entry.path().filename() == "b" || entry.path().filename() == "data.mdb"));
    }
    CHECK(entries == 3);
  }
}

TEST_CASE("a truncated store is refused") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(500, 3000));
  const std::string file = folder / "a/data.mdb";
  const std::uint64_t whole = std::filesystem::file_size(file);
  for (const std::uint64_t bytes :
       {whole - 1, whole / 2, std::uint64_t{8192}, std::uint64_t{5000}, std::uint64_t{100}, std::uint64_t{0}}) {
    std::filesystem::resize_file(file, bytes);
    const Error error = error_of([&] { LmdbSource({.path = raw.path}); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.file() == file);
    if (bytes >= 8192) CHECK(mentions(error, "truncated"));
    if (bytes != 0)
      CHECK(error_of([&] {
              LmdbSink({.path = raw.path}).open({{{"image", DType::u8, {dynamic}}}, 1});
            }).code() == Errc::corrupt);
  }
}

TEST_CASE("FileAccess::read survives a file that is cut short while it is open") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write(numbered(500, 3000));
  const LmdbSource source({.path = raw.path, .access = FileAccess::read});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  reader->read(499, out);
  std::filesystem::resize_file(folder / "a/data.mdb", 8192);
  const Error error = error_of([&] { reader->read(400, out); });
  CHECK(error.code() == Errc::io);
  CHECK(error.index() == 400);
  CHECK(mentions(error, "cut short"));
}

TEST_CASE("any changed bit of a record is noticed") {
  const TempFolder folder;
  write_records(folder / "good", 40);
  std::mt19937_64 random(7);
  for (int round = 0; round < 30; ++round) {
    std::string key;
    std::size_t at = 0;
    const std::string path = changed(folder, folder / "good", [&](Pairs& pairs) {
      key = decimal_key(random() % 40);
      std::string& value = pairs[key];
      at = random() % (value.size() * 8);
      value[at / 8] = static_cast<char>(value[at / 8] ^ (1 << at % 8));
    });
    const LmdbSource source({.path = path});
    for (std::uint64_t i = 0; i < 40; ++i) {
      if (source.key(i) != key) {
        CHECK(read_text(source, i) == image_of(i));
        continue;
      }
      const Error error = error_of([&] { read_sample(source, i); });
      INFO("bit " << at << ": " << error.what());
      CHECK(error.code() == Errc::corrupt);
      CHECK(error.key() == key);
      CHECK(error.index() == i);
      CHECK(error.file() == path + "/data.mdb");
      CHECK(error.offset().has_value());
    }
  }
}

TEST_CASE("a record under another's key is noticed") {
  const TempFolder folder;
  write_records(folder / "good", 10);
  const std::string path =
      changed(folder, folder / "good", [](Pairs& pairs) { std::swap(pairs["00000003"], pairs["00000007"]); });
  CHECK(error_of([&] { read_sample(LmdbSource({.path = path}), 3); }).code() == Errc::corrupt);
  CHECK(read_text(LmdbSource({.path = path, .verify_checksum = false}), 3) == image_of(7));
}

TEST_CASE("missing and added records are noticed") {
  const TempFolder folder;
  write_records(folder / "good", 10);
  const std::string fewer = changed(folder, folder / "good", [](Pairs& pairs) { pairs.erase("00000009"); });
  const std::string more = changed(folder, folder / "good", [](Pairs& pairs) { pairs["x"] = pairs["00000009"]; });
  for (const std::string& path : {fewer, more}) {
    const Error error = error_of([&] { LmdbSource({.path = path}); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "its manifest says 10"));
  }
}

TEST_CASE("a number of records that the file can't hold is refused before memory is taken for it") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  Pairs pairs;
  for (std::uint64_t i = 0; i < 40; ++i) pairs["key" + std::to_string(i * i)] = std::string(100, 'x');
  raw.write(pairs);
  write_records(folder / "records", 3);
  for (const std::string& path : {raw.path, folder / "records"}) {
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{39}, std::uint64_t{41}, std::uint64_t{1} << 40,
                                      std::uint64_t{1} << 61, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
      std::fstream file(path + "/data.mdb", std::ios::in | std::ios::out | std::ios::binary);
      for (const std::streamoff meta : {0, 4096}) {
        constexpr std::streamoff entries = 120;  // md_entries of the main table, in a meta page
        file.seekp(meta + entries);
        file.write(reinterpret_cast<const char*>(&count), sizeof(count));
      }
      file.close();
      const Error error = error_of([&] { LmdbSource({.path = path, .allow_unfinished = true}); });
      INFO(count << ": " << error.what());
      CHECK(error.code() == Errc::corrupt);
      CHECK(error.file() == path + "/data.mdb");
      if (path == raw.path)
        CHECK(error_of([&] { LmdbSource({.path = path, .values = LmdbValues::datum}); }).code() == Errc::corrupt);
    }
  }
}

TEST_CASE(
    "a value that its page says is longer than the file is refused, by FileAccess::read too, before it is copied") {
  const TempFolder folder;
  const RawLmdb raw{folder / "a"};
  raw.write({{"key", std::string(100, 'x')}, {"yek", std::string(100, 'y')}});
  const std::string file = folder / "a/data.mdb";
  std::string bytes(std::filesystem::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  constexpr std::size_t node_head = 8;
  bytes.replace(bytes.find("key" + std::string(100, 'x')) - node_head, 4, std::string("\xf0\xff\xff\xff", 4));
  folder.write("a/data.mdb", bytes);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    for (const LmdbValues values : {LmdbValues::raw, LmdbValues::datum}) {
      const Error error =
          error_of([&] { read_sample(LmdbSource({.path = raw.path, .values = values, .access = access}), 0); });
      CHECK(error.code() == Errc::corrupt);
    }
  }
}

TEST_CASE("damaged records never read outside of their value") {
  const TempFolder folder;
  write_records(folder / "good", 12);
  std::mt19937_64 random(3);
  const std::string path = changed(folder, folder / "good", [&](Pairs& pairs) {
    Pairs bad;
    for (const auto& [key, value] : pairs) {
      if (key == manifest_key) continue;
      for (int i = 0; i < 500; ++i) {
        std::string text = random() % 4 == 0 ? value.substr(0, random() % (value.size() + 1)) : value;
        // Mostly the numbers of the header: in bytes, and as large and odd ones.
        for (std::uint64_t changes = 1 + random() % 3; changes != 0 && text.size() >= 80; --changes) {
          const std::size_t at = random() % 72;
          const std::uint64_t number = random() >> random() % 64;
          if (random() % 2 == 0)
            text[at] = static_cast<char>(number);
          else
            std::memcpy(text.data() + at / 8 * 8, &number, 8);
        }
        bad[key + "/" + std::to_string(i)] = text;
      }
    }
    std::string manifest = pairs[manifest_key];
    manifest.replace(manifest.find("\"count\":12"), 10, "\"count\":" + std::to_string(bad.size()));
    pairs = bad;
    pairs[manifest_key] = manifest;
  });
  const LmdbSource source({.path = path, .verify_checksum = false});
  REQUIRE(source.size() == 6000);
  int refused = 0;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    try {
      read_sample(source, i);  // copies every byte it is given: the sanitizer watches
    } catch (const Error& error) {
      ++refused;
      if (error.code() != Errc::corrupt) FAIL(error.what());
    }
  }
  CHECK(refused > 3000);
}

TEST_CASE("a damaged manifest is refused") {
  const TempFolder folder;
  write_records(folder / "good", 3);
  std::mt19937_64 random(11);
  const std::string manifest = RawLmdb{folder / "good"}.read()[manifest_key];
  const auto open_with = [&](const std::string& text) {
    const std::string path = changed(folder, folder / "good", [&](Pairs& pairs) { pairs[manifest_key] = text; });
    try {
      static_cast<void>(read_sample(LmdbSource({.path = path, .allow_unfinished = true}), 1));
      return std::string("fine");
    } catch (const Error& error) {
      return std::string(to_string(error.code()));
    }
  };
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = manifest;
    text.replace(text.find(what), what.size(), instead);
    return open_with(text);
  };
  CHECK(open_with(manifest) == "fine");
  CHECK(open_with("") == "corrupt");
  CHECK(open_with("{}") == "corrupt");
  CHECK(open_with("[[[[") == "corrupt");
  CHECK(open_with(std::string(100'000, '[')) == "corrupt");
  CHECK(with("\"version\":1", "\"version\":2") == "unsupported");
  CHECK(with("\"u8\"", "\"u9\"") == "unsupported");
  CHECK(with("[-1]", "[-2]") == "corrupt");
  CHECK(with("[-1]", "[4611686018427387904,4611686018427387904]") == "corrupt");
  CHECK(with("[-1]", "[1,1,1,1,1,1,1,1,1]") == "corrupt");
  CHECK(with("\"label\"", "\"image\"") == "corrupt");
  CHECK(with("\"count\":3", "\"count\":-3") == "corrupt");
  for (int round = 0; round < 200; ++round) {
    std::string text = manifest;
    for (std::uint64_t flips = 1 + random() % 3; flips != 0; --flips)
      text[random() % text.size()] = static_cast<char>(random());
    const std::string result = open_with(text);
    if (result != "fine" && result != "corrupt" && result != "unsupported") FAIL(result << ": " << text);
  }
}

TEST_CASE("damage in the file itself is an error or goes unnoticed, but is no other record") {
  // Only in the data part of large values: LMDB does not survive damage in its tree.
  const TempFolder folder;
  write_records(folder / "good", 40);
  const LmdbSource good({.path = folder / "good"});
  const std::string file = text_in(folder / "good/data.mdb");
  std::mt19937_64 random(5);
  int noticed = 0, flipped = 0;
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t record = 30 + random() % 10;
    const std::size_t at = file.find(image_of(record)) + random() % image_of(record).size();
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    folder.write("bad/data.mdb", damaged);
    ++flipped;
    try {
      static_cast<void>(read_sample(LmdbSource({.path = folder / "bad"}), record));
    } catch (const Error& error) {
      noticed += error.code() == Errc::corrupt;
    }
  }
  CHECK(noticed == flipped);
}
