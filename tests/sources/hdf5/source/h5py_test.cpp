// SPDX-License-Identifier: Apache-2.0
// Files that h5py wrote, against what h5py reads from them. h5py_files.py makes both.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/hdf5/sink/sink_records.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const char* const python = "/usr/bin/python3";

bool has_h5py() { return std::system((std::string(python) + " -c 'import h5py' 2>/dev/null").c_str()) == 0; }

void make(const TempFolder& folder, const std::string& part) {
  const std::string command =
      std::string(python) + " " + path_of("h5py_files.py") + " " + folder.path().string() + " " + part;
  REQUIRE(std::system(command.c_str()) == 0);
}

std::vector<std::string> names_in(const TempFolder& folder) {
  std::ifstream in(folder / "names");
  std::vector<std::string> names;
  for (std::string name; std::getline(in, name);) names.push_back(name);
  REQUIRE(names.size() >= 2);
  return names;
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64,
                            DType::i64, DType::f16, DType::f32, DType::f64, DType::boolean})
    if (to_string(dtype) == name) return dtype;
  throw std::runtime_error("no dtype " + name);
}

// What h5py reads.
std::vector<H5Column> expected(const TempFolder& folder, const std::string& name) {
  std::ifstream in(folder / (name + ".expected"), std::ios::binary);
  REQUIRE(in);
  std::vector<H5Column> columns;
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    std::string field, dtype, dimensions, rows;
    for (std::string* cell : {&field, &dtype, &dimensions, &rows}) std::getline(cells, *cell, '\t');
    std::vector<std::int64_t> shape;
    std::istringstream numbers(dimensions);
    for (std::string number; std::getline(numbers, number, ',');) shape.push_back(std::stoll(number));
    H5Column& column = columns.emplace_back();
    column.field = {field, dtype_named(dtype), Shape(std::span<const std::int64_t>(shape))};
    for (long long i = 0; i < std::stoll(rows); ++i) {
      std::uint64_t bytes = 0;
      in.read(reinterpret_cast<char*>(&bytes), sizeof bytes);
      std::string row(bytes, '\0');
      in.read(row.data(), static_cast<std::streamsize>(bytes));
      const auto length = static_cast<std::int64_t>(bytes / size_of(column.field.dtype));
      column.rows.push_back({column.field.shape.fixed() ? column.field.shape : Shape{length}, std::move(row)});
    }
    REQUIRE(in);
  }
  REQUIRE_FALSE(columns.empty());
  return columns;
}

void compare_all(const TempFolder& folder) {
  for (const std::string& name : names_in(folder))
    for (const std::size_t keep_bytes : {std::size_t{0}, Hdf5{}.max_kept_bytes}) {
      INFO(name << ", keep_bytes " << keep_bytes);
      const Hdf5Source source({.path = folder / (name + ".h5"), .max_kept_bytes = keep_bytes});
      std::vector<H5Column> columns = expected(folder, name);
      if (source.has_keys()) {
        const auto keys = std::ranges::find(columns, source.keys(), [](const H5Column& c) { return c.field.name; });
        REQUIRE(keys != columns.end());
        for (std::uint64_t i = 0; i < keys->rows.size(); ++i) REQUIRE(source.key(i) == keys->rows[i].bytes);
        columns.erase(keys);
      }
      CHECK(difference(source, columns) == "");
    }
}

template <class T>
T value(const Hdf5Source& source, const char* object, const char* name) {
  const auto attribute = source.attribute(object, name);
  REQUIRE(attribute);
  CHECK(attribute->shape.empty());
  return std::get<std::vector<T>>(attribute->values).at(0);
}

}  // namespace

TEST_CASE("PatchCamelyon in every layout is read as h5py reads it") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: 4 layouts were not read");
  const TempFolder folder;
  make(folder, "pcam");
  for (const std::string& name : names_in(folder)) {
    INFO(name);
    const Hdf5Source source(
        {.path = folder / (name + ".h5"),
         .fields = {{.dataset = "x", .name = "image"},
                    {.dataset = "y", .name = "label", .file = folder / (name + "_y.h5"), .squeeze = true}},
         .max_kept_bytes = 4096});
    std::vector<H5Column> columns = expected(folder, name);
    columns[1].field.shape = {};
    for (H5Value& row : columns[1].rows) row.shape = {};
    CHECK(source.schema().to_string() == "{image: u8[96, 96, 3], label: u8[]}");
    CHECK(source.fields()[0].way == (name == "flat" ? Hdf5Way::contiguous : Hdf5Way::chunks));
    CHECK(source.fields()[1].way == Hdf5Way::kept);
    if (name == "rows32" || name == "rows1024") CHECK_FALSE(source.block_ends().empty());
    for (const std::uint64_t i : {std::uint64_t{0}, source.size() / 2, source.size() - 1})
      CHECK(difference(read_sample(source, i), columns, i) == "");
    Pipeline pipeline = from(source);
    pipeline = pipeline | shuffle({.seed = 1, .blocks = true, .block_size = source.block_ends().empty() ? 10u : 0u}) |
               batch(32);
    Loader loader(pipeline, {.threads = 3, .epochs = 1});
    std::uint64_t rows = 0;
    for (const Batch& b : loader.epoch()) {
      REQUIRE(difference(b, columns) == "");
      rows += b.size();
    }
    CHECK(rows == source.size());
  }
}

TEST_CASE("coordinates and features of slides are read as h5py reads them") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: 5 files were not read");
  const TempFolder folder;
  make(folder, "slides");
  compare_all(folder);
  const Hdf5Source clam({.path = folder / "clam.h5"});
  CHECK(value<std::int64_t>(clam, "coords", "patch_size") == 256);
  CHECK(value<std::int64_t>(clam, "/coords", "patch_level") == 0);
  CHECK(value<std::string>(clam, "coords", "name") == "slide_1");
  CHECK(value<std::string>(clam, "coords", "save_path") == "/out/patches");
  const auto downsample = clam.attribute("coords", "downsample");
  REQUIRE(downsample);
  CHECK(downsample->shape == std::vector<std::int64_t>{2});
  CHECK(std::get<std::vector<double>>(downsample->values) == std::vector<double>{1, 1});
  CHECK(std::get<std::vector<std::int64_t>>(clam.attribute("coords", "level_dim")->values) ==
        std::vector<std::int64_t>{46000, 32914});
  CHECK(clam.attributes("coords").size() == 7);

  const Hdf5Source trident({.path = folder / "trident.h5"});
  CHECK(value<std::int64_t>(trident, "coords", "patch_size_level0") == 512);
  CHECK(value<std::int64_t>(trident, "coords", "level0_magnification") == 40);
  CHECK(value<std::string>(trident, "coords", "name") == "slide_\xc3\xbc");
  CHECK(value<std::string>(trident, "coords", "level0_height") == "None");

  const Hdf5Source empty({.path = folder / "empty.h5"});
  CHECK(empty.size() == 0);
  CHECK(empty.schema().to_string() == "{coords: i64[2]}");
  CHECK(value<std::int64_t>(empty, "coords", "patch_size") == 256);
  const Hdf5Source all({.path = {}, .paths = {folder / "clam.h5", folder / "empty.h5", folder / "trident.h5"}});
  std::vector<H5Column> columns = expected(folder, "clam");
  append(columns, expected(folder, "trident"));
  CHECK(difference(all, columns) == "");
}

TEST_CASE("every storage is read as h5py reads it") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: 7 files were not read");
  const TempFolder folder;
  make(folder, "storage");
  compare_all(folder);
}

TEST_CASE("every filter that h5py has is read as h5py reads it") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: filtered chunks were not read");
  const TempFolder folder;
  make(folder, "packed");
#ifdef PENSTOCK_TEST_HDF5_FILTERS
  compare_all(folder);
  std::map<std::string, int> datasets;
  for (const char* name : {"packed.h5", "plugins.h5"}) {
    const Hdf5Source source({.path = folder / name, .max_kept_bytes = 0});
    for (const Hdf5FieldInfo& field : source.fields()) {
      CHECK(field.way == Hdf5Way::chunks);
      ++datasets[field.name.substr(0, field.name.find('_'))];
    }
  }
  for (const auto& [filter, count] : datasets) std::printf("h5py: %d datasets of %s\n", count, filter.c_str());
  CHECK(datasets["lzf"] >= 8);
#else
  const Hdf5Source source({.path = folder / "packed.h5", .max_kept_bytes = 0});
  // What this build can't read is left out.
  CHECK(source.fields().size() >= 1);
#endif
}

TEST_CASE("every type is read as h5py reads it") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: 2 files were not read");
  const TempFolder folder;
  make(folder, "types");
  compare_all(folder);
}

TEST_CASE("strings of every kind that h5py writes are keys as h5py reads them") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: its strings were not read");
  const TempFolder folder;
  make(folder, "types");
  const std::string path = folder / "texts.h5";
  int kinds = 0;
  for (const H5Column& column : expected(folder, "texts")) {
    INFO(column.field.name);
    const Hdf5 options{.path = path, .fields = {{"ragged"}}, .key = column.field.name};
    if (column.field.name == "ragged" || column.field.name == "encoded" || column.field.name.starts_with("utf32")) {
      CHECK(code_of([&] { Hdf5Source{options}; }) == Errc::unsupported);
      continue;
    }
    ++kinds;
    const Hdf5Source source(options);
    for (std::uint64_t i = 0; i < column.rows.size(); ++i) CHECK(source.key(i) == column.rows[i].bytes);
  }
  CHECK(kinds == 8);
  const Hdf5Source numbers({.path = folder / "types.h5", .fields = {{"bool"}}, .key = "record/a"});
  for (std::uint64_t i = 0; i < numbers.size(); ++i) CHECK(numbers.key(i) == std::to_string(i));
}

TEST_CASE("h5py reads what Hdf5Sink writes as Hdf5Source does") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: what the sink writes was not read by it");
  const TempFolder folder;
  constexpr std::uint64_t drawn = 12;
  for (std::uint64_t seed = 1; seed <= drawn; ++seed) {
    H5Draw draw(seed);
    const DrawnRecords records(drawn_schema(draw), 1 + draw.below(90), seed);
    Hdf5SinkOptions options = drawn_options(records.schema(), draw);
    options.path = folder / ("drawn" + std::to_string(seed));
    Hdf5Sink sink(options);
    REQUIRE(run(sink, records, 100));
  }
  std::vector<Field> all;
  for (int dtype = 0; dtype <= static_cast<int>(DType::boolean); ++dtype) {
    const std::string name(to_string(static_cast<DType>(dtype)));
    all.push_back({"fixed/" + name, static_cast<DType>(dtype), {3}});
    all.push_back({"any/" + name, static_cast<DType>(dtype), {dynamic}});
  }
  all.back().classes = {"tumor", "Gefäß"};
  const DrawnRecords records(Schema(std::move(all)), 70, 1);
  Hdf5Sink sink({.path = folder / "all.h5",
                 .single_file = true,
                 .fields = {{.field = "fixed/u8", .chunk_rows = 9},
                            {.field = "fixed/f16", .deflate = 12, .fletcher32 = true},
                            {.field = "fixed/bool", .deflate = 0}},
                 .keys = "key"});
  REQUIRE(run(sink, records, 30));
  make(folder, "stored");
  CHECK(Hdf5Source({.path = folder / "all.h5"}).keys() == "key");
  compare_all(folder);
  CHECK(names_in(folder).size() > drawn);
  const std::string storage = text_in(folder / "all.storage");
  INFO(storage);
  for (const char* const line :
       {"fixed/u8 uint8 (70, 3) (9, 3) gzip 4 False False\n", "fixed/f16 float16 (70, 3) (70, 3) gzip 9 True True\n",
        "fixed/bool bool (70, 3) (70, 3) None None False False\n", "any/f16 object (70,) (70,) None None False False\n",
        "fixed/i64 int64 (70, 3) (70, 3) gzip 4 True False\n", "key object (70,) (70,) None None False False\n",
        "any/bool ['tumor', 'Gefäß']\n"})
    CHECK(storage.find(line) != std::string::npos);
}

TEST_CASE("h5py sees a slide's features with the attributes of CLAM and TRIDENT") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py for /usr/bin/python3: features were not read by it");
  const TempFolder folder;
  FeatureSink sink({.folder = folder.path().string(), .encoder = "net", .job = "test"});
  sink.begin("slide ü", {{"patch_size", 256},
                         {"patch_level", 0},
                         {"downsample", std::vector<double>{1.0, 1.5}},
                         {"level_dim", std::vector<std::int64_t>{46000, 32914}},
                         {"overlap", 0.5},
                         {"save_path", "/out"}});
  std::vector<float> features(40 * 3, 0.5f);
  std::vector<std::int64_t> coords(40 * 2, 7);
  sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {40, 3}},
           {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {40, 2}});
  sink.end();
  make(folder, "features");
  std::ifstream in(folder / "features.txt");
  CHECK(std::string((std::istreambuf_iterator<char>(in)), {}) ==
        "features float32 (40, 3) (32, 3) (None, 3)\n"
        "  encoder str net\n"
        "  name str slide ü\n"
        "coords int64 (40, 2) (1024, 2) (None, 2)\n"
        "  downsample ndarray [1.0, 1.5]\n"
        "  level_dim ndarray [46000, 32914]\n"
        "  name str slide ü\n"
        "  overlap float64 0.5\n"
        "  patch_level int64 0\n"
        "  patch_size int64 256\n"
        "  save_path str /out\n"
        "60.0 560\n");
}
