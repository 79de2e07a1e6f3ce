// SPDX-License-Identifier: Apache-2.0
// HDF5, held to the contracts of a source and of a source of blocks.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/testing/block_source.hpp>
#include <penstock/testing/sink.hpp>
#include <penstock/testing/source.hpp>

#include "sources/hdf5/files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_block_source;
using ps::testing::check_source;

namespace {

using Kind = H5Type::Kind;

H5Data deflated(const char* path, hsize_t rows) {
  H5Data data = counting_chunks<float>(path, {rows, 6, 5}, {16, 4, 5}, {H5Filter::shuffle, H5Filter::deflate});
  data.left_out = {3};
  return data;
}

void check(const ps::Hdf5& options, const ps::Hdf5& other) {
  for (const auto& [keep_bytes, isolate] :
       {std::pair{std::size_t{0}, false}, std::pair{std::size_t{1000}, false},
        std::pair{ps::Hdf5{}.max_kept_bytes, false}, std::pair{std::size_t{0}, true}}) {
    INFO("keep_bytes " << keep_bytes << ", isolate " << isolate);
    ps::Hdf5 kept = options;
    kept.max_kept_bytes = keep_bytes;
    kept.isolate = isolate;
    const auto make = [&] { return ps::Hdf5Source(kept); };
    CHECK(check_source([&] { return ps::share(make()); }, {.other = [&] { return ps::share(ps::Hdf5Source(other)); }})
              .text() == "");
    CHECK(check_block_source(make).text() == "");
  }
}

}  // namespace

TEST_CASE("HDF5 keeps the contracts of a source and of its blocks") {
  const TempFolder folder;
  const std::string a = folder / "a.h5", b = folder / "b.h5", types = folder / "types.h5";
  write_h5(
      a, {.data = {deflated("x", 150), counting<std::uint8_t>("flat", {150, 9}), counting<std::int64_t>("y", {150})}});
  write_h5(b,
           {.data = {deflated("x", 70), counting<std::uint8_t>("flat", {70, 9}), counting<std::int64_t>("y", {70})}});
  H5Data scaled = counting_chunks<std::uint16_t>("scaled", {80, 9}, {7, 9}, {H5Filter::scaleoffset});
  H5Data big = counting_chunks<std::uint32_t>("big", {80, 9}, {7, 9}, {H5Filter::deflate, H5Filter::fletcher32});
  big.type.big = true;
  const H5Type row = h5_compound({{"a", h5_real(8)}, {"t", {.kind = Kind::fixed_text, .bytes = 9}}});
  write_h5(types, {.data = {scaled,
                            big,
                            {.path = "rows", .type = row, .shape = {80}},
                            {.path = "text", .type = {.kind = Kind::text}, .shape = {80}},
                            counting_chunks<std::int16_t>("id", {80}, {7}, {H5Filter::deflate}),
                            {.path = "brain", .type = {.kind = Kind::brain, .bytes = 2}, .shape = {80, 3}}}});
  check({.path = a}, {.path = b});
  check({.path = {}, .paths = {a, b, a}}, {.path = a});
  check({.path = types}, {.path = a});
  for (const char* const key : {"text", "rows/t", "id"}) check({.path = types, .key = key}, {.path = types});
}

TEST_CASE("HDF5 with damaged chunks keeps the contract of a source") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  H5Data data = counting_chunks<std::uint16_t>("x", {50, 30}, {7, 30}, {H5Filter::deflate});
  data.stored_as[2] = 1;  // says that it is not deflated
  write_h5(path, {.data = {data}});
  {
    // What stands there then is half a chunk.
    const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)), dataset(H5Dopen2(file, "x", H5P_DEFAULT));
    const hsize_t start[] = {14, 0};
    h5_must(H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, start, 210, std::string(210, 'x').data()));
  }
  for (const auto& [keep_bytes, isolate] :
       {std::pair{std::size_t{0}, false}, std::pair{ps::Hdf5{}.max_kept_bytes, false},
        std::pair{std::size_t{0}, true}}) {
    const ps::Hdf5 options{.path = path, .max_kept_bytes = keep_bytes, .isolate = isolate};
    const auto make = [&] { return ps::share(ps::Hdf5Source(options)); };
    INFO("keep_bytes " << keep_bytes << ", isolate " << isolate);
    CHECK_FALSE(check_source(make).passed());
    CHECK(check_source(make, {.allow_bad_records = true}).text() == "");
  }
}

TEST_CASE("Hdf5Sink keeps the contract of a sink") {
  for (const std::uint64_t max_samples : {7, 1000}) {
    const TempFolder folder;
    const auto report = ps::testing::check_sink(
        [&](const std::string& path) {
          return ps::Hdf5Sink({.path = path,
                               .fields = {{.field = "image", .chunk_rows = 5}, {.field = "label", .chunk_rows = 9}},
                               .keys = "key",
                               .max_samples = max_samples,
                               .sync = false});
        },
        [&](const std::string& path) {
          std::vector<std::string> shards;
          for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            if (entry.path().string().starts_with(path + "-0")) shards.push_back(entry.path().string());
          std::ranges::sort(shards);
          return ps::share(ps::Hdf5Source({.paths = shards}));
        },
        folder.path().string());
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}

TEST_CASE("Hdf5Sink of a single file keeps the contract of a sink") {
  const TempFolder folder;
  const auto report = ps::testing::check_sink(
      [](const std::string& path) { return ps::Hdf5Sink({.path = path, .single_file = true, .sync = false}); },
      [](const std::string& path) { return ps::share(ps::Hdf5Source({.path = path})); }, folder.path().string());
  CHECK(report.text() == "");
  CHECK(report.passed());
}
