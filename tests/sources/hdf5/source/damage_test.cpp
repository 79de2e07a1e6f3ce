// SPDX-License-Identifier: Apache-2.0
// Files that are cut short or changed. Damage of what HDF5 itself parses may kill its library, so there the files are
// opened by children (see hdf5_child.hpp); damage of chunks must not.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/child.hpp"
#include "sources/hdf5/oracle.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr H5Filter deflate = H5Filter::deflate, shuffled = H5Filter::shuffle, fletcher32 = H5Filter::fletcher32,
                   scaleoffset = H5Filter::scaleoffset;

// A dataset of each way.
std::vector<H5Data> of_each_way() {
  std::vector<H5Data> data{counting<std::uint16_t>("flat", {40, 30}),
                           counting_chunks<std::uint16_t>("plain", {40, 30}, {7, 30}),
                           counting_chunks<std::uint16_t>("deflated", {40, 30}, {7, 30}, {shuffled, deflate}),
                           counting_chunks<std::uint16_t>("summed", {40, 30}, {7, 30}, {deflate, fletcher32}),
                           counting_chunks<std::uint16_t>("scaled", {40, 30}, {7, 30}, {scaleoffset})};
  data.push_back({.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {40}});
  return data;
}

struct StoredChunk {
  std::vector<hsize_t> start;
  haddr_t at = 0;
  hsize_t bytes = 0;
};

std::vector<StoredChunk> chunks_of(const std::string& path, const std::string& name, std::size_t rank) {
  const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const H5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT)), space(H5Dget_space(dataset));
  hsize_t count = 0;
  h5_must(H5Dget_num_chunks(dataset, space, &count));
  std::vector<StoredChunk> chunks(count, {std::vector<hsize_t>(rank)});
  for (hsize_t i = 0; i < count; ++i) {
    unsigned mask = 0;
    h5_must(H5Dget_chunk_info(dataset, space, i, chunks[i].start.data(), &mask, &chunks[i].at, &chunks[i].bytes));
  }
  return chunks;
}

// What a record has, or the error it is.
std::optional<Error> read_one(const Hdf5Source& source, std::uint64_t index, std::string* bytes = nullptr) {
  try {
    const OwnedSample sample = read_sample(source, index);
    if (bytes != nullptr) *bytes = text_of(sample[source.schema()[0].name]);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

bool reads(const std::string& path, const H5Data& data, std::vector<H5Column>& columns) {
  H5E_auto2_t print = nullptr;
  void* where = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &where);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  bool fine = true;
  try {
    columns = columns_of(path, data);
  } catch (const std::runtime_error&) {
    fine = false;
  }
  H5Eset_auto2(H5E_DEFAULT, print, where);
  return fine;
}

// Opens a file and reads all of its records, each of which may be an Error.
void read_all(const std::string& path, std::size_t keep_bytes) {
  const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(source.size(), 200); ++i)
    if (const auto error = read_one(source, i); error && !error->sample_scoped()) throw *error;
}

}  // namespace

TEST_CASE("a file that is cut short is refused wherever that is") {
  const TempFolder folder;
  write_h5(folder / "good.h5", {.data = of_each_way()});
  const std::string good = text_in(folder / "good.h5"), path = folder / "cut.h5";
  std::vector<std::size_t> lengths{0, 1, 7, 8, 47, 48, 95, 96, 97, good.size() - 1};
  for (std::size_t bytes = 100; bytes < good.size(); bytes += good.size() / 60) lengths.push_back(bytes);
  for (const std::size_t bytes : lengths) {
    folder.write("cut.h5", std::string_view(good).substr(0, bytes));
    const ChildEnd end = in_damaged_child([&] {
      const Error error = error_of([&] { Hdf5Source({.path = path}); });
      if (error.code() != Errc::corrupt || error.file() != path || error.source() != "hdf5") throw error;
    });
    INFO(bytes << " of " << good.size() << " bytes: " << end.text);
    REQUIRE(end.how == ChildEnd::How::returned);
  }
}

TEST_CASE("a file that is cut short while it is open gives errors or what was there") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  for (const H5Data& data : of_each_way()) {
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      write_h5(path, {.data = {data}});
      const std::vector<H5Column> columns = columns_of(path, data);
      const std::uint64_t whole = std::filesystem::file_size(path);
      for (const std::uint64_t bytes : {whole - 100, whole / 2, std::uint64_t{2048}, std::uint64_t{10}}) {
        write_h5(path, {.data = {data}});
        const ChildEnd end = in_damaged_child([&] {
          const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes});
          std::filesystem::resize_file(path, bytes);
          std::uint64_t bad = 0;
          for (std::uint64_t i = 0; i < source.size(); ++i) {
            try {
              const std::string text = difference(read_sample(source, i), columns, i);
              if (!text.empty()) throw std::runtime_error("other values: " + text);
            } catch (const Error& error) {
              if ((error.code() != Errc::io && error.code() != Errc::corrupt) || error.file() != path ||
                  !mentions(error, data.path))
                throw;
              ++bad;
            }
          }
          if (bad == 0 && bytes <= 2048) throw std::runtime_error("no record was missing");
        });
        INFO(data.path << " cut from " << whole << " to " << bytes << ", keep_bytes " << keep_bytes << ": "
                       << end.text);
        REQUIRE((end.how == ChildEnd::How::returned || end.how == ChildEnd::How::killed_library));
      }
    }
  }
}

TEST_CASE("any changed bit of a chunk with a checksum is noticed") {
  const TempFolder folder;
  const std::string path = folder / "bad.h5";
  std::mt19937_64 random(3);
  for (const std::vector<H5Filter>& filters : {std::vector<H5Filter>{fletcher32},
                                               {deflate, fletcher32},
                                               {shuffled, deflate, fletcher32},
                                               {fletcher32, deflate},
                                               {scaleoffset, fletcher32}}) {
    const H5Data data = counting_chunks<std::uint16_t>("/g/x", {40, 30}, {7, 30}, filters);
    write_h5(folder / "good.h5", {.data = {data}});
    const std::vector<H5Column> columns = columns_of(folder / "good.h5", data);
    const std::vector<StoredChunk> chunks = chunks_of(folder / "good.h5", "/g/x", 2);
    REQUIRE(chunks.size() == 6);
    const std::string good = text_in(folder / "good.h5");
    for (int round = 0; round < 25; ++round) {
      const std::size_t which = random() % chunks.size();
      const StoredChunk& chunk = chunks[which];
      std::string bad = good;
      const std::uint64_t bit = random() % (chunk.bytes * 8);
      bad[chunk.at + bit / 8] = static_cast<char>(bad[chunk.at + bit / 8] ^ (1 << bit % 8));
      folder.write("bad.h5", bad);
      // Those that are kept are read one by one where the whole can't be.
      for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
        const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes});
        for (std::uint64_t i = 0; i < 40; ++i) {
          INFO("filters " << filters.size() << ", keep_bytes " << keep_bytes << ", row " << i << ", chunk " << which);
          if (i / 7 != chunk.start[0] / 7) {
            REQUIRE(difference(read_sample(source, i), columns, i) == "");
            continue;
          }
          const Error error = error_of([&] { (void)read_sample(source, i); });
          INFO(error.what());
          REQUIRE(error.code() == Errc::corrupt);
          REQUIRE(error.file() == path);
          REQUIRE(mentions(error, "g/x"));
          REQUIRE((keep_bytes != 0 || mentions(error, "chunk")));
          if (source.fields()[0].way == Hdf5Way::chunks) REQUIRE(error.offset() == chunk.at);
        }
      }
      Loader loader(from(Hdf5{.path = path, .max_kept_bytes = 0}) | on_error({.policy = OnError::mask}) | batch(8),
                    {.threads = 2, .epochs = 1});
      for (const Batch& b : loader.epoch())
        for (std::size_t r = 0; r < b.size(); ++r)
          REQUIRE(b.mask()[r] == (b.indices()[r] / 7 == chunk.start[0] / 7 ? 0 : 1));
    }
  }
}

TEST_CASE("a checksum that is not to be compared is not") {
  const TempFolder folder;
  const H5Data data = counting_chunks<std::uint16_t>("x", {8, 30}, {8, 30}, {fletcher32});
  write_h5(folder / "a.h5", {.data = {data}});
  std::string text = text_in(folder / "a.h5");
  const StoredChunk chunk = chunks_of(folder / "a.h5", "x", 2).front();
  text[chunk.at] = static_cast<char>(text[chunk.at] ^ 1);
  folder.write("a.h5", text);
  for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
    const Hdf5Source source({.path = folder / "a.h5", .verify_checksum = false, .max_kept_bytes = keep_bytes});
    CHECK(*reinterpret_cast<const std::uint16_t*>(read_sample(source, 0)["x"].data) == 1);
    CHECK(*reinterpret_cast<const std::uint16_t*>(read_sample(source, 1)["x"].data) == 30);
  }
}

TEST_CASE("changed bytes of compressed chunks are errors or what H5Dread makes of them") {
  const TempFolder folder;
  const std::string path = folder / "bad.h5";
  std::mt19937_64 random(9);
  int errors = 0, rounds = 0;
  for (const std::vector<H5Filter>& filters : {std::vector<H5Filter>{deflate}, {shuffled, deflate}}) {
    const H5Data data = counting_chunks<std::uint16_t>("x", {40, 30}, {7, 20}, filters);
    write_h5(folder / "good.h5", {.data = {data}});
    const std::vector<StoredChunk> chunks = chunks_of(folder / "good.h5", "x", 2);
    const std::string good = text_in(folder / "good.h5");
    for (int round = 0; round < 60; ++round, ++rounds) {
      const StoredChunk& chunk = chunks[random() % chunks.size()];
      std::string bad = good;
      for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
        // Mostly at the beginning: the header and the codes.
        const std::uint64_t at = random() % (random() % 2 == 0 ? std::min<hsize_t>(chunk.bytes, 12) : chunk.bytes);
        bad[chunk.at + at] = static_cast<char>(random());
      }
      folder.write("bad.h5", bad);
      // Row by row, as H5Dread would refuse all of them together.
      std::vector<H5Column> columns;
      const bool library_reads = reads(path, data, columns);
      const Hdf5Source source({.path = path, .max_kept_bytes = 0});
      for (std::uint64_t i = 0; i < 40; ++i) {
        std::string bytes;
        const auto error = read_one(source, i, &bytes);
        INFO("round " << round << ", row " << i);
        if (error) {
          ++errors;
          INFO(error->what());
          REQUIRE(error->code() == Errc::corrupt);
          REQUIRE(error->file() == path);
          REQUIRE((mentions(*error, "'x'") && mentions(*error, "chunk")));
          REQUIRE(i / 7 == chunk.start[0] / 7);
        } else {
          REQUIRE((library_reads || i / 7 != chunk.start[0] / 7));
          if (library_reads) REQUIRE(bytes == columns[0].rows[i].bytes);
        }
      }
    }
  }
  CHECK(errors > rounds);
}

TEST_CASE("sizes that the file can't hold are refused before memory is taken for them") {
  const TempFolder folder;
  const std::string path = folder / "bad.h5";
  const auto number = [](std::uint64_t value, std::size_t bytes) {
    return bytes_of<std::uint64_t>({value}).substr(0, bytes);
  };
  // `from` stands in the file once or more; every one of them becomes `to`. Children have 1 GiB.
  const auto changed = [&](const H5Data& data, const std::string& from, const std::string& to) {
    write_h5(path, {.data = {data}});
    std::string text = text_in(path);
    std::size_t found = 0;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++found)
      text.replace(at, to.size(), to);
    REQUIRE(found != 0);
    folder.write("bad.h5", text);
    for (const std::size_t keep_bytes : {std::size_t{0}, ~std::size_t{0}}) {
      const ChildEnd end = in_damaged_child([&] {
        const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes});
        for (std::uint64_t i = 0; i < 20; ++i) (void)read_sample(source, i);
      });
      INFO(data.path << ", keep_bytes " << keep_bytes << ": " << end.text);
      CHECK(end.how == ChildEnd::How::error);
      CHECK(end.text.find("corrupt") != std::string::npos);
      CHECK(end.text.find(path) != std::string::npos);
      CHECK(end.text.find(data.path) != std::string::npos);
    }
  };
  // Rows, and values of a row, of a dataset that lies in one piece.
  const H5Data flat = counting<std::uint8_t>("flat", {1234, 77});
  for (const std::uint64_t rows : {1300, 1 << 30}) changed(flat, number(1234, 8) + number(77, 8), number(rows, 8));
  changed(flat, number(1234, 8) + number(77, 8), number(std::uint64_t{1} << 61, 8));
  changed(flat, number(1234, 8) + number(77, 8), number(1234, 8) + number(std::uint64_t{1} << 50, 8));
  // The bytes of a stored chunk: in the index they stand before its filter mask and its place.
  H5Data chunks = counting_chunks<std::uint8_t>("chunks", {100, 700}, {100, 700}, {deflate});
  write_h5(path, {.data = {chunks}});
  const StoredChunk chunk = chunks_of(path, "chunks", 2).front();
  for (const std::uint64_t bytes : {100'000, 0x7fffffff})
    changed(chunks, number(chunk.bytes, 4) + std::string(28, '\0'), number(bytes, 4));
}

TEST_CASE("a chunk that is not as large as it must be is refused whichever way it is read") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  for (const std::vector<H5Filter>& filters : {std::vector<H5Filter>{deflate}, {shuffled}})
    for (const std::size_t bytes : {std::size_t{210}, std::size_t{419}, std::size_t{421}}) {
      write_h5(path, {.data = {counting_chunks<std::uint16_t>("x", {21, 30}, {7, 30}, filters)}});
      {
        const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)), dataset(H5Dopen2(file, "x", H5P_DEFAULT));
        const hsize_t start[] = {7, 0};
        h5_must(H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, start, bytes, std::string(bytes, 'x').data()));
      }
      for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
        const ChildEnd end = in_damaged_child([&] {
          const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes});
          for (std::uint64_t i = 0; i < 21; ++i) {
            const auto error = read_one(source, i);
            if (error.has_value() != (i / 7 == 1)) throw std::runtime_error("row " + std::to_string(i));
            if (error && (error->code() != Errc::corrupt || !mentions(*error, "'x'"))) throw *error;
          }
        });
        INFO(bytes << " bytes instead of 420, " << filters.size() << " filters, keep_bytes " << keep_bytes << ": "
                   << end.text);
        CHECK(end.how == ChildEnd::How::returned);
      }
    }
}

TEST_CASE("changed bytes anywhere kill nothing but the HDF5 library") {
  const TempFolder folder;
  const std::string path = folder / "bad.h5";
  std::mt19937_64 random(17);
  int killed = 0, refused = 0;
  constexpr int rounds = 240;
  for (const bool latest : {false, true}) {
    write_h5(folder / "good.h5", {.data = of_each_way(), .latest = latest});
    const std::string good = text_in(folder / "good.h5");
    std::vector<bool> data(good.size(), false);
    for (const char* name : {"plain", "deflated", "summed"})
      for (const StoredChunk& chunk : chunks_of(folder / "good.h5", name, 2))
        std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(chunk.at), chunk.bytes, true);
    for (int round = 0; round < rounds / 2; ++round) {
      std::string bad = good;
      for (std::uint64_t changes = 1 + random() % 3; changes != 0;) {
        const std::size_t at = random() % bad.size();
        // Places of nothing are changed as well, but what it costs to be read is the structure.
        if (data[at] || (bad[at] == 0 && random() % 4 != 0)) continue;
        bad[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
        --changes;
      }
      folder.write("bad.h5", bad);
      const ChildEnd end = in_damaged_child([&] { read_all(path, round % 2 == 0 ? 0 : 1 << 20); }, 3);
      INFO("latest " << latest << ", round " << round << ": " << end.text);
      REQUIRE(end.how != ChildEnd::How::killed_us);
      REQUIRE(end.how != ChildEnd::How::other_error);
      killed += end.how == ChildEnd::How::killed_library;
      refused += end.how == ChildEnd::How::error;
      if (end.how == ChildEnd::How::error) REQUIRE(end.text.find(path) != std::string::npos);
    }
  }
  CHECK(refused > 20);
  CHECK(killed < rounds / 4);
}
