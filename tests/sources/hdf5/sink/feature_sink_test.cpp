// SPDX-License-Identifier: Apache-2.0
// FeatureSink: a file a slide, and the list of them.
#include <penstock/sources/feature_sink.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>

#include "sources/file_limit.hpp"
#include "sources/files/folder_files.hpp"
#include "sources/hdf5/files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Rows `first` to `first + n` of a slide.
struct Rows {
  Rows(std::int64_t first, std::int64_t n, std::int64_t dimension = 6) {
    for (std::int64_t i = first; i < first + n; ++i) {
      for (std::int64_t d = 0; d < dimension; ++d) values.push_back(static_cast<float>(i) + static_cast<float>(d) / 8);
      places.push_back(i * 256);
      places.push_back(-i);
    }
    features = {reinterpret_cast<std::byte*>(values.data()), DType::f32, {n, dimension}};
    coords = {reinterpret_cast<std::byte*>(places.data()), DType::i64, {n, 2}};
  }
  std::vector<float> values;
  std::vector<std::int64_t> places;
  TensorView features, coords;
};

void put_rows(FeatureSink& sink, std::int64_t first, std::int64_t n) {
  const Rows rows(first, n);
  sink.put(rows.features, rows.coords);
}

void write_slide(FeatureSink& sink, const std::string& slide, std::int64_t rows) {
  sink.begin(slide, {{"patch_size", 256}});
  for (std::int64_t first = 0; first < rows; first += 25)
    put_rows(sink, first, std::min<std::int64_t>(25, rows - first));
  sink.end();
}

}  // namespace

TEST_CASE("features of slides are kept as CLAM has them and read back") {
  const TempFolder folder;
  for (const DType dtype : {DType::f32, DType::f16}) {
    const std::string out = folder / ("out " + std::string(to_string(dtype)));
    FeatureSink sink({.folder = out, .dtype = dtype, .job = "net 1", .sync = false});
    CHECK_FALSE(sink.has("a"));
    write_slide(sink, "a", 130);
    CHECK(sink.has("a"));
    CHECK(sink.file("a") == out + "/h5_files/a.h5");
    const Hdf5Source source({.path = sink.file("a")});
    CHECK(source.size() == 130);
    CHECK(source.schema() == Schema{{"coords", DType::i64, {2}}, {"features", dtype, {6}}});
    CHECK(source.fields()[1].storage == "chunks of [32, 6]");
    for (const std::uint64_t i : {0u, 31u, 32u, 129u}) {
      const OwnedSample sample = read_sample(source, i);
      CHECK(sample["coords"].as<std::int64_t, 1>()(0) == static_cast<std::int64_t>(i) * 256);
      CHECK(sample["coords"].as<std::int64_t, 1>()(1) == -static_cast<std::int64_t>(i));
      const float expected = static_cast<float>(i) + 0.625f;
      if (dtype == DType::f32)
        CHECK(sample["features"].as<float, 1>()(5) == expected);
      else
        CHECK(sample["features"].as<Half, 1>()(5).bits == to_half(expected));
    }
    const auto size = source.attribute("/coords", "patch_size");
    REQUIRE(size);
    CHECK(std::get<std::vector<std::int64_t>>(size->values) == std::vector<std::int64_t>{256});
    CHECK(text_in(out + "/metadata.csv") == "slide_id,file,features,dimension,dtype,job\na,h5_files/a.h5,130,6," +
                                                std::string(to_string(dtype)) + ",net 1\n");
  }
}

TEST_CASE("attributes that a slide can't have are refused before a network has worked on it") {
  const TempFolder folder;
  FeatureSink sink({.folder = folder / "f", .job = "test"});
  const auto code = [&](const std::vector<FeatureAttribute>& attributes) {
    return code_of([&] { sink.begin("a", attributes); });
  };
  CHECK(code({{"x", 1.0}, {"y", 2.0}, {"x", 3.0}}) == Errc::invalid_argument);
  CHECK(code({{"", 1.0}}) == Errc::invalid_argument);
  CHECK(code({{std::string("a\0b", 3), 1.0}}) == Errc::invalid_argument);
  CHECK(code({{"x", std::string(60'001, 'x')}}) == Errc::invalid_argument);
  CHECK(code({{"x", std::vector<double>(8000)}}) == Errc::invalid_argument);
  sink.begin("a", {{"x", std::string(60'000, 'x')}, {"y", std::vector<double>(7000)}});
  put_rows(sink, 0, 3);
  sink.end();
  CHECK(sink.has("a"));
}

TEST_CASE("an attribute of no numbers is one") {
  const TempFolder folder;
  FeatureSink sink({.folder = folder / "out", .job = "test", .sync = false});
  sink.begin("a", {{"none", std::vector<std::int64_t>{}}, {"nothing", std::vector<double>{}}});
  put_rows(sink, 0, 1);
  sink.end();
  const Hdf5Source source({.path = sink.file("a")});
  for (const char* const name : {"none", "nothing"}) {
    const auto found = source.attribute("/coords", name);
    REQUIRE(found);
    CHECK(found->shape == std::vector<std::int64_t>{0});
  }
}

TEST_CASE("the list of slides may have any length") {
  const TempFolder folder;
  const FeatureSinkOptions options{.folder = folder / "out", .job = std::string(3u << 20, 'j'), .sync = false};
  FeatureSink sink(options);
  for (const char* const slide : {"a", "b", "c", "d", "e", "f", "g"}) write_slide(sink, slide, 1);
  const std::string list = text_in(folder / "out/metadata.csv");
  CHECK(std::ranges::count(list, '\n') == 8);
  CHECK(FeatureSink(options).has("g"));
  CHECK(text_in(folder / "out/metadata.csv") == list);
}

TEST_CASE("what others list is read once, however many slides there are") {
  // Bytes that this process has read; the system counts them.
  const auto bytes_read = [] {
    std::string name;
    std::uint64_t bytes = 0;
    std::ifstream("/proc/self/io") >> name >> bytes;
    return bytes;
  };
  if (bytes_read() == 0) PENSTOCK_SKIP("the system counts no bytes that are read");
  // Two processes, as it were, that take turns; what is read for each slide has to stay what it is.
  const auto read_for = [&](int slides) {
    const TempFolder folder;
    const FeatureSinkOptions options{.folder = folder / "out", .job = std::string(20'000, 'j'), .sync = false};
    FeatureSink one(options), two(options);
    const std::uint64_t before = bytes_read();
    for (int i = 0; i < slides; ++i) write_slide(i % 2 == 0 ? one : two, "s" + std::to_string(i), 1);
    const std::uint64_t read = bytes_read() - before;
    const std::string list = text_in(folder / "out/metadata.csv");
    CHECK(std::ranges::count(list, '\n') == slides + 1);
    return read;
  };
  const std::uint64_t few = read_for(20), many = read_for(80);
  CAPTURE(few, many);
  CHECK(many < 6 * few);
}

TEST_CASE("a list that was changed by others is read anew") {
  const TempFolder folder;
  const std::string list = folder / "out/metadata.csv", slides = folder / "out/h5_files/";
  const auto line = [](const std::string& slide, int rows) {
    return slide + ",h5_files/" + slide + ".h5," + std::to_string(rows) + ",6,f32,test\n";
  };
  const std::string heading = "slide_id,file,features,dimension,dtype,job\n";
  FeatureSink one({.folder = folder / "out", .job = "test"}), two({.folder = folder / "out", .job = "test"});
  write_slide(one, "a", 1);
  write_slide(two, "b", 2);
  write_slide(one, "slide_id", 3);
  CHECK(text_in(list) == heading + line("a", 1) + line("b", 2) + line("slide_id", 3));
  // A slide that was deleted and is made anew, by who listed it and by another, stands there once.
  std::filesystem::remove(slides + "a.h5");
  write_slide(two, "a", 4);
  CHECK(text_in(list) == heading + line("b", 2) + line("slide_id", 3) + line("a", 4));
  std::filesystem::remove(slides + "b.h5");
  write_slide(one, "b", 5);
  std::filesystem::remove(slides + "slide_id.h5");
  write_slide(one, "slide_id", 6);
  write_slide(two, "c", 7);
  CHECK(text_in(list) == heading + line("a", 4) + line("b", 5) + line("slide_id", 6) + line("c", 7));
  // One that is shorter, another one of the same length, none.
  folder.write("out/metadata.csv", heading + line("b", 5));
  write_slide(two, "d", 8);
  CHECK(text_in(list) == heading + line("b", 5) + line("d", 8));
  folder.write("out/metadata.csv", heading + line("e", 5) + line("g", 8));
  write_slide(two, "e", 9);
  CHECK(text_in(list) == heading + line("g", 8) + line("e", 9));
  write_slide(two, "h", 1);
  folder.write("out/replacing.csv", heading + line("i", 8) + line("e", 9) + line("h", 1));
  std::filesystem::rename(folder / "out/replacing.csv", list);
  write_slide(two, "i", 2);
  CHECK(text_in(list) == heading + line("e", 9) + line("h", 1) + line("i", 2));
  std::filesystem::remove(list);
  write_slide(one, "f", 1);
  CHECK(text_in(list) == heading + line("f", 1));
  // Half of a long line: what was cut off is not made up with zeros.
  const TempFolder other;
  FeatureSink longer({.folder = other / "out", .job = std::string(5000, 'j')});
  write_slide(longer, "a", 1);
  write_slide(longer, "b", 1);
  const std::string both = text_in(other / "out/metadata.csv");
  other.write("out/metadata.csv", both.substr(0, both.size() - 10));
  write_slide(longer, "c", 1);
  CHECK(text_in(other / "out/metadata.csv").find("\nc,h5_files/c.h5,1,6,f32,j") == both.rfind("\nb,"));
}

TEST_CASE("values that f16 does not hold are refused before a row is stored") {
  const TempFolder folder;
  FeatureSink sink({.folder = folder / "out", .dtype = DType::f16, .job = "test", .sync = false});
  sink.begin("a");
  put_rows(sink, 0, 2);
  Rows rows(0, 4);
  const auto refused = [&](float value) {
    rows.values[2 * 6 + 3] = value;
    const Error error = error_of([&] { sink.put(rows.features, rows.coords); });
    CHECK(error.code() == Errc::invalid_argument);
    return std::string(error.what());
  };
  CHECK(refused(1e6f).find("row 2 of the features has 1000000") != std::string::npos);
  CHECK(refused(-65520).find("in column 3, which f16 does not hold") != std::string::npos);
  // The largest that does not become infinite; what is infinite already, or no number, is kept.
  rows.values[2 * 6 + 3] = 65519;
  rows.values[2 * 6 + 4] = std::numeric_limits<float>::infinity();
  rows.values[2 * 6 + 5] = std::numeric_limits<float>::quiet_NaN();
  sink.put(rows.features, rows.coords);
  sink.end();
  const Hdf5Source source({.path = sink.file("a")});
  REQUIRE(source.size() == 6);
  const OwnedSample row = read_sample(source, 4);
  CHECK(from_half(row["features"].as<Half, 1>()(3).bits) == 65504);
  CHECK(from_half(row["features"].as<Half, 1>()(4).bits) == std::numeric_limits<float>::infinity());
  FeatureSink wide({.folder = folder / "wide", .job = "test", .sync = false});
  wide.begin("a");
  rows.values[0] = 1e30f;
  wide.put(rows.features, rows.coords);
  wide.end();
}

TEST_CASE("a slide that was not ended is not there and is begun anew") {
  const TempFolder folder;
  {
    FeatureSink sink({.folder = folder / "out", .job = "test"});
    sink.begin("a");
    put_rows(sink, 0, 100);
  }
  CHECK(std::filesystem::exists(folder / "out/h5_files/a.h5.partial"));
  FeatureSink sink({.folder = folder / "out", .job = "test"});
  CHECK_FALSE(sink.has("a"));
  write_slide(sink, "a", 40);
  CHECK(Hdf5Source({.path = sink.file("a")}).size() == 40);
  CHECK(files_in(folder / "out/h5_files").size() == 1);
  CHECK(mentions(error_of([&] { sink.begin("a"); }), "ask has() first"));
  CHECK(files_in(folder / "out/h5_files").size() == 1);
  sink.begin("b");
  sink.drop();
  sink.drop();
  CHECK(files_in(folder / "out/h5_files").size() == 1);
  sink.begin("empty");
  sink.end();
  const Rows none(0, 0);
  sink.begin("no rows");
  sink.put(none.features, none.coords);
  sink.end();
  FeatureSink again({.folder = folder / "out", .job = "test"});
  CHECK(again.has("empty"));
  CHECK(text_in(folder / "out/metadata.csv").find("\nempty,h5_files/empty.h5,0,0,f32,test\nno rows,") !=
        std::string::npos);
}

TEST_CASE("two that write features of one folder don't write one slide") {
  const TempFolder folder;
  FeatureSink one({.folder = folder / "out", .job = "test"}), two({.folder = folder / "out", .job = "test"});
  one.begin("a");
  CHECK(mentions(error_of([&] { two.begin("a"); }), "this process is at this slide"));
  two.begin("b");
  put_rows(two, 0, 3);
  put_rows(one, 0, 5);
  put_rows(two, 3, 3);
  one.end();
  two.end();
  CHECK(two.has("a"));
  CHECK(Hdf5Source({.path = one.file("a")}).size() == 5);
  CHECK(Hdf5Source({.path = one.file("b")}).size() == 6);
  const std::string list = text_in(folder / "out/metadata.csv");
  CHECK(list.find("\na,h5_files/a.h5,5,6,f32,test\nb,h5_files/b.h5,6,6,f32,test\n") != std::string::npos);
}

TEST_CASE("a list of slides that a kill has left out is made up for") {
  const TempFolder folder;
  const auto sink = [&] { return FeatureSink({.folder = folder / "out", .job = "one, \"two\""}); };
  FeatureSink first = sink();
  for (const char* const slide : {"b", "a, \"x\"", "c"}) write_slide(first, slide, 10);
  const std::string list = folder / "out/metadata.csv", whole = text_in(list);
  CHECK(std::ranges::count(whole, '\n') == 4);
  CHECK(whole.find("\n\"a, \"\"x\"\"\",\"h5_files/a, \"\"x\"\".h5\",10,6,f32,\"one, \"\"two\"\"\"\n") !=
        std::string::npos);
  static_cast<void>(sink());
  CHECK(text_in(list) == whole);
  // At any byte; what is missing comes back, in another order perhaps.
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    folder.write("out/metadata.csv", whole.substr(0, bytes));
    static_cast<void>(sink());
    const std::string renewed = text_in(list);
    CHECK(renewed.size() == whole.size());
    CHECK(std::ranges::count(renewed, '\n') == 4);
  }
  // A line that was cut while the folder is open.
  FeatureSink open = sink();
  folder.write("out/metadata.csv", whole + "half,\"h5_");
  write_slide(open, "d", 2);
  CHECK(text_in(list) == whole + "d,h5_files/d.h5,2,6,f32,\"one, \"\"two\"\"\"\n");
  std::filesystem::remove(folder / "out/h5_files/d.h5");
  std::filesystem::remove(list);
  static_cast<void>(sink());
  CHECK(text_in(list).size() == whole.size());
}

TEST_CASE("features that don't fit are refused and so are slides of another job") {
  const TempFolder folder;
  FeatureSink sink({.folder = folder / "out", .job = "one"});
  for (const std::string slide : {"", ".", "..", "../x", "/x", "a/b", ".hidden", "a\nb"}) {
    CHECK(code_of([&] { sink.begin(slide); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(sink.has(slide)); }) == Errc::invalid_argument);
  }
  CHECK(code_of([&] { sink.begin(std::string(201, 'a')); }) == Errc::invalid_argument);
  CHECK(mentions(error_of([&] { sink.end(); }), "begin"));
  CHECK(files_in(folder.path() / "out/h5_files").empty());
  sink.begin("a");
  CHECK(mentions(error_of([&] { sink.begin("b"); }), "\"a\""));
  Rows rows(0, 4), fewer(0, 3), wider(0, 4, 7);
  sink.put(rows.features, rows.coords);
  const auto refused = [&](const TensorView& features, const TensorView& coords) {
    CHECK(code_of([&] { sink.put(features, coords); }) == Errc::schema_mismatch);
  };
  refused(rows.features, fewer.coords);
  refused(wider.features, wider.coords);
  refused(rows.coords, rows.coords);
  refused(rows.features, rows.features);
  refused({rows.features.data, DType::f32, {24}}, rows.coords);
  sink.put(rows.features, rows.coords);
  sink.end();
  CHECK(Hdf5Source({.path = sink.file("a")}).size() == 8);
  CHECK(mentions(error_of([&] { FeatureSink({.folder = folder / "out", .job = "two"}); }), "another job"));
  std::filesystem::remove(folder / "out/metadata.csv");
  CHECK(mentions(error_of([&] { FeatureSink({.folder = folder / "out", .job = "two"}); }), "another job"));
  CHECK(mentions(error_of([&] { FeatureSink({.folder = folder / "out", .dtype = DType::f16, .job = "one"}); }),
                 "features are f32"));
  CHECK(mentions(error_of([&] { FeatureSink({.folder = folder / "x"}); }), "`job` must say what makes the features"));
  CHECK(code_of([&] { FeatureSink({.folder = "", .job = "test"}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { FeatureSink({.folder = folder / "x", .dtype = DType::f64, .job = "test"}); }) ==
        Errc::invalid_argument);
  CHECK(code_of([&] { FeatureSink({.folder = folder / "x", .chunk_rows = 0, .job = "test"}); }) ==
        Errc::invalid_argument);
}

TEST_CASE("a slide whose features the disk has no room for is dropped and made again") {
  const TempFolder folder;
  FeatureSink sink({.folder = folder / "out", .chunk_rows = 8, .job = "test", .sync = false});
  write_slide(sink, "whole", 300);
  const std::size_t largest = std::filesystem::file_size(sink.file("whole")), handles = open_handles();
  for (std::size_t bytes = 1500; bytes < largest; bytes += 1700) {
    INFO(bytes << " of " << largest);
    const auto failing = [&] {
      const FileLimit limit(bytes);
      write_slide(sink, "a", 300);
    };
    const Error error = error_of(failing);
    CHECK(error.code() == Errc::io);
    CHECK(mentions(error, "bytes are free"));
    CHECK_FALSE(mentions(error, "; 0 bytes were"));
    CHECK(code_of([&] { sink.end(); }) == Errc::closed);
    sink.drop();
    CHECK_FALSE(sink.has("a"));
    CHECK(open_handles() == handles);
  }
  write_slide(sink, "a", 300);
  CHECK(files_in(folder / "out/h5_files")["a.h5"].size() == largest);
}
