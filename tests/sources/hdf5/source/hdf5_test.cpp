// SPDX-License-Identifier: Apache-2.0
// What becomes a field, how it is called, how it is read, and what files say about themselves.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

H5Data compound_rows(hsize_t rows) {
  return {.path = "rows",
          .type = h5_compound({{"label", h5_integer(8, true)},
                               {"box", h5_array(h5_real(4), {2, 2})},
                               {"at", h5_compound({{"x", h5_real(8)}, {"y", h5_real(8)}})}}),
          .shape = {rows}};
}

Hdf5FieldInfo info_of(const Hdf5Source& source, std::string_view name) {
  for (const Hdf5FieldInfo& info : source.fields())
    if (info.name == name) return info;
  throw std::runtime_error("no field " + std::string(name));
}

template <class T>
std::vector<T> values_of(const Hdf5Source& source, std::uint64_t index, std::string_view field) {
  const OwnedSample sample = read_sample(source, index);
  const TensorView tensor = sample[field];
  REQUIRE(tensor.dtype == dtype_of<T>);
  const T* const data = reinterpret_cast<const T*>(tensor.data);
  return {data, data + tensor.shape.elements()};
}

}  // namespace

TEST_CASE("labels of HDF5 are had from their dataset alone") {
  const TempFolder folder;
  const std::string path = folder / "a.h5", more = folder / "b.h5";
  for (const auto& [name, rows] : {std::pair{path, hsize_t{50}}, std::pair{more, hsize_t{9}}})
    write_h5(name,
             {.data = {counting_chunks<std::uint8_t>("x", {rows, 40}, {8, 40}, {H5Filter::deflate}),
                       counting<std::int32_t>("y", {rows}, -5),
                       counting_chunks<std::uint8_t>("c", {rows}, {8}, {H5Filter::deflate}), compound_rows(rows)}});
  for (const std::size_t keep_bytes : {std::size_t{16} << 20, std::size_t{0}}) {
    const Hdf5Source source({.paths = {path, more}, .max_kept_bytes = keep_bytes});
    for (const char* field : {"y", "c", "rows/label"}) {
      INFO(field << " " << keep_bytes);
      const auto labels = source.labels(field);
      REQUIRE(labels);
      REQUIRE(labels->size() == 59);
      CHECK(labels_of(source, field) == *labels);
      for (const std::uint64_t i : {0u, 7u, 49u, 50u, 58u}) {
        const OwnedSample sample = read_sample(source, i);
        const TensorView value = sample[field];
        REQUIRE(std::memcmp(&(*labels)[i], value.data, value.bytes()) == 0);
      }
    }
    CHECK(source.labels("x") == std::nullopt);
    CHECK(source.labels("none") == std::nullopt);
    CHECK(source.file() == path);
    for (const std::uint64_t i : {0u, 49u}) CHECK(source.file_of(i) == path);
    for (const std::uint64_t i : {50u, 58u}) CHECK(source.file_of(i) == more);
    CHECK(code_of([&] { source.file_of(59); }) == Errc::not_found);
  }
  // What can't be read of the images is not looked at.
  const Hdf5Source source(
      {.path = path, .fields = {{.dataset = "x"}, {.dataset = "y", .name = "label"}}, .max_kept_bytes = 0});
  CHECK(source.labels("label")->at(49) == 44);
}

TEST_CASE("windows of HDF5 series are pieces of its datasets") {
  const TempFolder folder;
  const std::string path = folder / "ecg.h5";
  H5Data who = counting<std::uint16_t>("who", {103});
  std::vector<std::uint16_t> of(103);
  for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<std::uint16_t>(i / 40);
  who.values = bytes_of(of);
  write_h5(path, {.data = {counting_chunks<float>("x", {103, 3}, {10, 3}, {H5Filter::deflate}), who}});
  const AnySource all = windows(Hdf5{.path = path}, {.length = 16, .stride = 8, .group_by = "who"});
  CHECK(all.schema().to_string() == "{who: u16[16], x: f32[16, 3]}");
  REQUIRE(all.size() == 4 + 4 + 1);
  const std::vector<std::uint64_t> first{0, 8, 16, 24, 40, 48, 56, 64, 80};
  Loader loader(from(all) | shuffle({.seed = 2, .blocks = true}) | batch(4), {.threads = 2, .epochs = 1});
  std::uint64_t seen = 0;
  for (const Batch& b : loader.epoch())
    for (std::uint64_t r = 0; r < b.size(); ++r, ++seen) {
      const auto row = static_cast<std::int64_t>(r);
      for (std::int64_t k = 0; k < 16; ++k) {
        const std::uint64_t at = first[b.indices()[r]] + static_cast<std::uint64_t>(k);
        REQUIRE(b.view<float, 3>("x")(row, k, 2) == static_cast<float>(at * 3 + 2));
        REQUIRE(b.view<std::uint16_t, 2>("who")(row, k) == at / 40);
      }
    }
  CHECK(seen == 9);
}

TEST_CASE("each dataset and each column is a field") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(path,
           {.data = {counting<std::uint8_t>("x", {6, 4, 5, 3}), counting<float>("/train/y", {6}), compound_rows(6)}});
  const Hdf5Source source({.path = path});
  CHECK(source.size() == 6);
  CHECK(source.name() == "hdf5");
  CHECK(source.file() == path);
  CHECK(source.schema().size() == 6);
  CHECK(Schema{source.schema().at("x")}.to_string() == "{x: u8[4, 5, 3]}");
  CHECK(Schema{source.schema().at("train/y")}.to_string() == "{train/y: f32[]}");
  CHECK(Schema{source.schema().at("rows/label")}.to_string() == "{rows/label: i64[]}");
  CHECK(Schema{source.schema().at("rows/box")}.to_string() == "{rows/box: f32[2, 2]}");
  CHECK(Schema{source.schema().at("rows/at.x")}.to_string() == "{rows/at.x: f64[]}");
  CHECK(values_of<float>(source, 4, "train/y") == std::vector<float>{4});
  const Hdf5FieldInfo info = info_of(source, "rows/at.y");
  CHECK((info.dataset == "rows" || info.dataset == "/rows"));
  CHECK(info.member == "at.y");
  CHECK(info.file == path);
}

TEST_CASE("fields are chosen and named and squeezed") {
  const TempFolder folder;
  write_h5(folder / "x.h5", {.data = {counting<std::uint8_t>("x", {8, 2, 2, 3}), compound_rows(8)}});
  write_h5(folder / "y.h5", {.data = {counting<std::int16_t>("/y", {8, 1, 1, 1}, 100)}});
  const Hdf5Source source({.path = folder / "x.h5",
                           .fields = {{.dataset = "x", .name = "image"},
                                      {.dataset = "/y", .name = "label", .file = folder / "y.h5", .squeeze = true},
                                      {.dataset = "y", .name = "as_it_is", .file = folder / "y.h5"},
                                      {.dataset = "rows", .member = "at.y"},
                                      {.dataset = "/rows", .member = "label", .name = "l"}}});
  CHECK(source.schema().to_string() ==
        "{image: u8[2, 2, 3], label: i16[], as_it_is: i16[1, 1, 1], rows/at.y: f64[], l: i64[]}");
  CHECK(values_of<std::int16_t>(source, 5, "label") == std::vector<std::int16_t>{105});
  CHECK(values_of<std::int16_t>(source, 5, "as_it_is") == std::vector<std::int16_t>{105});
  CHECK(values_of<std::uint8_t>(source, 1, "image").front() == 12);
  CHECK(info_of(source, "label").file == folder / "y.h5");
  write_h5(folder / "s.h5", {.data = {counting<float>("s", {8, 1, 5, 1})}});
  CHECK(Hdf5Source({.path = folder / "s.h5", .fields = {{.dataset = "s", .squeeze = true}}}).schema().to_string() ==
        "{s: f32[5]}");
}

TEST_CASE("a pipeline begins with the options alone") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<std::uint8_t>("x", {64, 8, 8}, {16, 8, 8}, {H5Filter::deflate}),
                                      counting<std::int32_t>("y", {64})}});
  const Pipeline pipeline =
      from(Hdf5{.path = folder / "a.h5", .max_kept_bytes = 300}) | shuffle({.seed = 1, .blocks = true}) | batch(10);
  const std::string plan = pipeline.plan();
  INFO(plan);
  CHECK(plan.find("hdf5") != std::string::npos);
  Loader loader(pipeline, {.threads = 2, .epochs = 1});
  std::vector<std::int32_t> seen;
  for (const Batch& b : loader.epoch())
    for (std::size_t i = 0; i < b.size(); ++i) {
      seen.push_back(b.view<std::int32_t, 1>("y")(static_cast<std::int64_t>(i)));
      CHECK(seen.back() == static_cast<std::int32_t>(b.indices()[i]));
      CHECK(b.view<std::uint8_t, 3>("x")(static_cast<std::int64_t>(i), 0, 1) == (b.indices()[i] * 64 + 1) % 256);
    }
  std::ranges::sort(seen);
  std::vector<std::int32_t> all(64);
  std::iota(all.begin(), all.end(), 0);
  CHECK(seen == all);
}

TEST_CASE("what is known of a field is how it is stored and which way it is read") {
  using enum H5Filter;
  const TempFolder folder;
  const hsize_t n = 64;
  H5Data text{.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {n}};
  H5Data big = counting_chunks<std::int32_t>("big", {n, 4}, {8, 4}, {deflate});
  big.type.big = true;
  write_h5(folder / "a.h5",
           {.data = {counting<std::uint8_t>("flat", {n, 96}),
                     counting_chunks<std::uint8_t>("image", {n, 4, 5, 3}, {32, 4, 5, 3}, {deflate}),
                     counting_chunks<float>("feature", {n, 16}, {8, 16}, {shuffle, deflate, fletcher32}),
                     counting_chunks<std::uint16_t>("scaled", {n, 16}, {8, 16}, {scaleoffset}), text, big}});
  const Hdf5Source source({.path = folder / "a.h5", .max_kept_bytes = 0});
  const auto way = [&](const char* name) { return std::string(to_string(info_of(source, name).way)); };
  CHECK(way("flat") == "contiguous");
  CHECK(info_of(source, "flat").storage == "contiguous");
  CHECK(info_of(source, "flat").rows_per_chunk == 0);
  CHECK(way("image") == "chunks");
  CHECK(info_of(source, "image").rows_per_chunk == 32);
  CHECK(info_of(source, "image").storage == "chunks of [32, 4, 5, 3], deflate");
  CHECK(info_of(source, "image").reason == "");
  CHECK(way("feature") == "chunks");
  CHECK(info_of(source, "feature").storage == "chunks of [8, 16], shuffle + deflate + fletcher32");
  CHECK(way("scaled") == "library");
  CHECK(info_of(source, "scaled").reason.find("scaleoffset") != std::string::npos);
  CHECK((way("text") == "rows" || way("text") == "library"));
  CHECK_FALSE(info_of(source, "text").reason.empty());
  for (const Hdf5FieldInfo& info : source.fields()) {
    INFO(info.name << " " << info.storage << " " << to_string(info.way) << " " << info.reason);
    CHECK_FALSE(info.storage.empty());
    CHECK(std::ranges::any_of(source.notes(),
                              [&](const std::string& note) { return note.find(info.name) != std::string::npos; }));
  }
  const Hdf5Source kept({.path = folder / "a.h5", .fields = {{"flat"}, {"image"}, {"scaled"}}});
  for (const Hdf5FieldInfo& info : kept.fields()) CHECK(to_string(info.way) == "kept");
}

TEST_CASE("filters in an unusual order are undone without the library, and read the same") {
  using enum H5Filter;
  const TempFolder folder;
  const std::vector<std::vector<H5Filter>> chains{
      {deflate, shuffle}, {deflate, deflate}, {deflate, fletcher32, deflate}, {deflate, shuffle, deflate, fletcher32}};
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const std::string path = folder / (std::to_string(i) + ".h5");
    write_h5(path, {.data = {counting_chunks<std::int32_t>("x", {50, 8}, {16, 8}, chains[i])}});
    const Hdf5Source source({.path = path, .max_kept_bytes = 0});
    CHECK(to_string(source.fields()[0].way) == "chunks");
    for (std::int32_t row = 0; row < 50; ++row) {
      OwnedSample record = read_sample(source, static_cast<std::uint64_t>(row));
      const auto values = record.sample().bytes("x");
      for (std::int32_t k = 0; k < 8; ++k) {
        std::int32_t value = 0;
        std::memcpy(&value, values.data() + 4 * k, 4);
        REQUIRE(value == row * 8 + k);
      }
    }
  }
}

TEST_CASE("what was never written is the fill value, whatever its size and however much there is") {
  const TempFolder folder;
  for (const std::size_t bytes : {1, 2, 8, 5'000, 40'000}) {
    std::string one(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) one[i] = static_cast<char>(i * 7 + 1);
    const std::string path = folder / (std::to_string(bytes) + ".h5");
    H5Data data{.path = "x", .type = {.kind = H5Type::Kind::opaque, .bytes = bytes}, .shape = {2, 13}};
    data.never_written = true;
    data.fill = one;
    write_h5(path, {.data = {data}});
    OwnedSample record = read_sample(Hdf5Source({.path = path, .max_kept_bytes = 0}), 1);
    const auto got = record.sample().bytes("x");
    REQUIRE(got.size() == 13 * bytes);
    for (std::size_t i = 0; i < 13; ++i) REQUIRE(std::memcmp(got.data() + i * bytes, one.data(), bytes) == 0);
  }
}

TEST_CASE("a dataset of far more chunks than its file has room for is not kept, and its ends are not told") {
  const TempFolder folder;
  H5Data sparse{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {3'000'000}, .layout = H5D_CHUNKED};
  sparse.chunk = {1};
  sparse.never_written = true;
  write_h5(folder / "a.h5", {.data = {sparse}});
  const Hdf5Source source({.path = folder / "a.h5"});
  CHECK(to_string(source.fields()[0].way) == "chunks");
  CHECK(read_sample(source, 2'999'999)["x"].bytes() == 1);
  CHECK(code_of([&] { (void)source.block_ends(); }) == Errc::limit_exceeded);
}

TEST_CASE("groups are looked through to a depth, beyond which datasets must be named") {
  const TempFolder folder;
  for (const int depth : {100, 101}) {
    const std::string path = folder / (std::to_string(depth) + ".h5");
    std::string name;
    for (int i = 0; i < depth; ++i) name += "g/";
    write_h5(path, {.data = {counting<std::uint8_t>(name + "x", {4})}});
    if (depth == 100) {
      CHECK(Hdf5Source({.path = path}).schema()[0].name == name + "x");
      continue;
    }
    const Error refused = error_of([&] { Hdf5Source({.path = path}); });
    CHECK(refused.code() == Errc::limit_exceeded);
    CHECK(mentions(refused, "`fields`"));
    CHECK(Hdf5Source({.path = path, .fields = {{.dataset = name + "x"}}}).size() == 4);
  }
}

TEST_CASE("a dataset is kept when it is not larger than keep_bytes") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting<std::uint8_t>("x", {100, 10})}});
  CHECK(Hdf5Source({.path = folder / "a.h5", .max_kept_bytes = 1000}).fields()[0].way == Hdf5Way::kept);
  CHECK(Hdf5Source({.path = folder / "a.h5", .max_kept_bytes = 999}).fields()[0].way == Hdf5Way::contiguous);
  CHECK(Hdf5Source({.path = folder / "a.h5", .max_kept_bytes = 0}).fields()[0].way == Hdf5Way::contiguous);
}

TEST_CASE("chunks are the blocks and their rows the runs of a shuffle") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<float>("x", {50, 8}, {16, 8}, {H5Filter::deflate}),
                                      counting_chunks<std::uint8_t>("small", {50}, {20}, {H5Filter::deflate})}});
  write_h5(folder / "b.h5", {.data = {counting_chunks<float>("x", {7, 8}, {4, 8}, {H5Filter::deflate}),
                                      counting_chunks<std::uint8_t>("small", {7}, {3})}});
  const Hdf5Source source(
      {.path = {}, .paths = {folder / "a.h5", folder / "b.h5"}, .fields = {{"x"}}, .max_kept_bytes = 0});
  CHECK(source.block_ends() == std::vector<std::uint64_t>{16, 32, 48, 50, 54, 57});
  const Hdf5Source both({.path = folder / "a.h5", .max_kept_bytes = 0});
  CHECK(both.block_ends() == std::vector<std::uint64_t>{16, 32, 48, 50});
  std::vector<std::uint64_t> ids, same;
  both.blocks_of(17, ids);
  both.blocks_of(18, same);
  CHECK(ids.size() == 2);
  CHECK(ids == same);
  for (const std::uint64_t id : ids) CHECK(id < both.blocks());
  write_h5(folder / "c.h5", {.data = {counting<float>("x", {50, 8})}});
  CHECK(Hdf5Source({.path = folder / "c.h5", .max_kept_bytes = 0}).block_ends().empty());
}

TEST_CASE("identity follows what the records are") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting<float>("x", {20, 2}), counting<float>("z", {20, 2})}});
  write_h5(folder / "longer.h5", {.data = {counting<float>("x", {21, 2}), counting<float>("z", {21, 2})}});
  std::filesystem::copy_file(folder / "a.h5", folder / "copy.h5");
  const auto of = [&](const char* name, std::vector<Hdf5Field> fields = {}, std::size_t keep_bytes = 16u << 20) {
    return from(Hdf5{.path = folder / name, .fields = std::move(fields), .max_kept_bytes = keep_bytes}).fingerprint();
  };
  CHECK(of("a.h5") == of("a.h5"));
  CHECK(of("a.h5") == of("copy.h5"));
  CHECK(of("a.h5") == of("a.h5", {}, 0));
  CHECK(of("a.h5") != of("longer.h5"));
  CHECK(of("a.h5", {{.dataset = "x", .name = "f"}}) != of("a.h5", {{.dataset = "z", .name = "f"}}));
}

TEST_CASE("a source leaves no handle behind and a copy lives on its own") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<float>("x", {20, 2}, {3, 2}, {H5Filter::deflate}),
                                      {.path = "t", .type = {.kind = H5Type::Kind::text}, .shape = {20}}}});
  REQUIRE(open_handles() == 0);
  {
    auto first = std::make_unique<Hdf5Source>(Hdf5{.path = folder / "a.h5", .max_kept_bytes = 0});
    const Hdf5Source copy = *first;
    first.reset();
    CHECK(values_of<float>(copy, 7, "x") == std::vector<float>{14, 15});
  }
  CHECK(open_handles() == 0);
  for (const char* bad : {"nothing", "x/y"})
    CHECK_THROWS_AS(Hdf5Source({.path = folder / "a.h5", .fields = {{"x"}, {bad}}}), Error);
  CHECK(open_handles() == 0);
}

TEST_CASE("a file that the program itself has open can be read") {
  const TempFolder folder;
  const H5Data data = counting_chunks<float>("x", {20, 2}, {3, 2}, {H5Filter::deflate});
  write_h5(folder / "a.h5", {.data = {data}});
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  const H5Id file(H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  {
    const Hdf5Source source({.path = folder / "a.h5", .max_kept_bytes = 0});
    CHECK(difference(source, columns) == "");
  }
  CHECK(H5Id(H5Dopen2(file, "x", H5P_DEFAULT)) >= 0);
}

TEST_CASE("sources of one file and of one file under two names do not disturb each other") {
  const TempFolder folder;
  const H5Data data = counting_chunks<float>("x", {40, 2}, {3, 2}, {H5Filter::deflate});
  write_h5(folder / "a.h5", {.data = {data}});
  std::filesystem::create_symlink(folder / "a.h5", folder / "b.h5");
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  const Hdf5Source second({.path = folder / "b.h5", .max_kept_bytes = 0});
  {
    const Hdf5Source first({.path = folder / "a.h5", .max_kept_bytes = 0});
    CHECK(difference(first, columns) == "");
  }
  CHECK(difference(second, columns) == "");
  const Hdf5Source twice({.path = {}, .paths = {folder / "a.h5", folder / "b.h5"}, .max_kept_bytes = 0});
  CHECK(twice.size() == 80);
  CHECK(values_of<float>(twice, 41, "x") == std::vector<float>{2, 3});
}

TEST_CASE("soft and hard and external links lead to the same dataset") {
  const TempFolder folder;
  write_h5(folder / "a.h5",
           {.data = {counting<float>("g/x", {20, 2}), counting_chunks<float>("g/plain", {20, 2}, {3, 2}),
                     counting_chunks<float>("g/deflated", {20, 2}, {3, 2}, {H5Filter::deflate})}});
  {
    const H5Id file = create_h5(folder / "links.h5");
    for (const char* name : {"x", "plain", "deflated"})
      h5_must(H5Lcreate_external("a.h5", ("g/" + std::string(name)).c_str(), file,
                                 ("outside_" + std::string(name)).c_str(), H5P_DEFAULT, H5P_DEFAULT));
    write_data(file, counting<float>("x", {20, 2}));
    write_data(file, counting<float>("more", {20, 200}));  // so that any place of the other file is one of this too
    h5_must(H5Lcreate_soft("/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    h5_must(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT));
    h5_must(H5Lcreate_hard(file, "x", file, "hard", H5P_DEFAULT, H5P_DEFAULT));
  }
  // Those of another file may be refused, but not be read from the wrong one.
  for (const char* name : {"x", "soft", "hard", "outside_x", "outside_plain", "outside_deflated"})
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      INFO(name << ", keep_bytes " << keep_bytes);
      std::vector<float> values;
      try {
        const Hdf5Source source(
            {.path = folder / "links.h5", .fields = {{.dataset = name, .name = "f"}}, .max_kept_bytes = keep_bytes});
        values = values_of<float>(source, 3, "f");
      } catch (const Error& error) {
        INFO(error.what());
        CHECK(error.code() == Errc::unsupported);
        CHECK(std::string(name).find("outside") == 0);
        continue;
      }
      CHECK(values == std::vector<float>{6, 7});
    }
  CHECK(code_of([&] { Hdf5Source({.path = folder / "links.h5", .fields = {{"dangling"}}}); }) == Errc::not_found);
  // All datasets: one with several names has the first of them, in whatever order the file keeps them.
  const auto names = [&](const char* file, bool isolate = false) {
    std::vector<std::string> found;
    const Schema schema = Hdf5Source({.path = folder / file, .isolate = isolate}).schema();
    for (std::size_t i = 0; i < schema.size(); ++i) found.push_back(schema[i].name);
    return found;
  };
  CHECK(names("links.h5") == std::vector<std::string>{"hard", "more"});
  {
    const H5Id file = create_h5(folder / "names.h5");
    write_data(file, counting<float>("m", {20}));
    for (const char first : {'p', 'f', 'z', 'e', 'h', 'b', 'y', 'q'})
      h5_must(H5Lcreate_hard(file, "m", file, std::string(1, first).c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }
  for (const bool isolate : {false, true}) CHECK(names("names.h5", isolate) == std::vector<std::string>{"b"});
}

TEST_CASE("of many small datasets no more are kept than four times keep_bytes") {
  const TempFolder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 6; ++i) {
    paths.push_back(folder / std::to_string(i) + ".h5");
    write_h5(paths.back(), {.data = {counting_chunks<std::uint8_t>("x", {100, 10}, {50, 10}, {H5Filter::deflate})}});
  }
  const Hdf5Source source({.path = {}, .paths = paths, .max_kept_bytes = 1000});
  CHECK(source.fields()[0].way == Hdf5Way::kept);
  CHECK(source.fields()[0].differs);
  CHECK(source.blocks() == 4);  // of the last two files
  for (std::uint64_t i = 0; i < 600; ++i)
    REQUIRE(read_sample(source, i)["x"].data[3] == static_cast<std::byte>(i % 100 * 10 + 3));
}

TEST_CASE("datasets whose chunks are too large together are read by rows, the largest first") {
  const TempFolder folder;
  constexpr hsize_t width = 1 << 16, chunk = 4000;  // 250 MiB a chunk
  H5Data wide = counting_chunks<std::uint8_t>("a", {4, width}, {chunk, width}, {H5Filter::deflate});
  wide.never_written = wide.resizable = true;
  H5Data other = wide;
  other.path = "b";
  other.chunk = {chunk / 2, width};
  write_h5(folder / "a.h5", {.data = {wide, other}});
  const Hdf5Source source({.path = folder / "a.h5", .max_kept_bytes = 0});
  CHECK(source.fields()[0].way == Hdf5Way::rows);
  CHECK(source.fields()[1].way == Hdf5Way::chunks);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(read_sample(source, i)["a"].bytes() == width);
}

TEST_CASE("the revision of HDF5 files is of those that are open and of what is compared in them") {
  const TempFolder folder;
  const auto of_one_time = [&](const std::string& name) {
    std::filesystem::last_write_time(folder / name, std::filesystem::file_time_type{});
  };
  write_h5(folder / "a.h5", {.data = {counting<float>("x", {40, 50})}});
  write_h5(folder / "other.h5", {.data = {counting<float>("x", {40, 50}, 1)}});
  std::filesystem::copy_file(folder / "a.h5", folder / "same.h5");
  for (const char* const name : {"a.h5", "same.h5", "other.h5"}) of_one_time(name);
  const Hdf5Source a({.path = folder / "a.h5"});
  CHECK(share(a).model()->identified());
  CHECK(a.revision() == Hdf5Source({.path = folder / "same.h5"}).revision());
  CHECK(a.revision() != Hdf5Source({.path = folder / "other.h5"}).revision());  // of the same size and time
  CHECK(a.revision() != Hdf5Source({.path = folder / "a.h5", .verify_checksum = false}).revision());
  const std::uint64_t before = a.revision();
  std::filesystem::rename(folder / "other.h5", folder / "a.h5");
  CHECK(a.revision() == before);
  CHECK(Hdf5Source({.path = folder / "a.h5"}).revision() != before);
}
