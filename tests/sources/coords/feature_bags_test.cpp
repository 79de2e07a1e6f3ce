// SPDX-License-Identifier: Apache-2.0
// Bags of features, against what h5py wrote.
#include <penstock/sources/feature_bags.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/feature_sink.hpp>
#include <penstock/testing/source.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const std::string script = "/usr/bin/python3 " + path_of("coords_files.py") + " ";

bool has_h5py() { return std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") == 0; }

struct Slide {
  std::vector<float> features;
  std::vector<std::int64_t> coords;
  std::int64_t rows() const { return static_cast<std::int64_t>(coords.size() / 2); }
};
constexpr std::int64_t dimension = 24;

// What the script says it wrote.
std::map<std::string, Slide> slides_in(const TempFolder& folder) {
  std::map<std::string, Slide> slides;
  std::ifstream file(folder / "bags.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::size_t rows = 0;
    words >> name >> rows;
    Slide& slide = slides[name];
    slide.features.resize(rows * static_cast<std::size_t>(dimension));
    slide.coords.resize(2 * rows);
    for (float& value : slide.features) words >> value;
    for (std::int64_t& value : slide.coords) words >> value;
    REQUIRE(words);
  }
  return slides;
}

std::vector<float> floats_of(const TensorView& value) {
  std::vector<float> out;
  for (std::size_t i = 0; i < value.shape.elements(); ++i)
    out.push_back(value.dtype == DType::f16 ? from_half(reinterpret_cast<const std::uint16_t*>(value.data)[i])
                                            : reinterpret_cast<const float*>(value.data)[i]);
  return out;
}
bool same(const TensorView& features, const TensorView& coords, const Slide& slide) {
  const auto* at = reinterpret_cast<const std::int64_t*>(coords.data);
  return features.shape == Shape{slide.rows(), dimension} && coords.shape == Shape{slide.rows(), 2} &&
         floats_of(features) == slide.features && std::equal(slide.coords.begin(), slide.coords.end(), at);
}

}  // namespace

TEST_CASE("features that CLAM and TRIDENT write are records, one a slide") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  const TempFolder folder;
  REQUIRE(std::system((script + "bags " + folder.path().string()).c_str()) == 0);
  const std::map<std::string, Slide> slides = slides_in(folder);
  REQUIRE(slides.size() == 12);
  const FeatureBagSource source({.path = folder.path().string()});
  CHECK(source.schema().to_string() == "{features: f32[?, 24], coords: i64[?, 2]}");
  REQUIRE(source.size() == slides.size());
  std::uint64_t i = 0;
  for (const auto& [name, slide] : slides) {
    CAPTURE(name);
    CHECK(source.key(i) == name);
    CHECK(source.file_of(i) == folder / (name + ".h5"));
    const OwnedSample record = read_sample(source, i);
    CHECK(same(record["features"], record["coords"], slide));
    CHECK(source.groups()[i] == Group{name, i + 1});
    ++i;
  }
  // All of the numbers are ones that f16 has.
  const FeatureBagSource halves({.path = folder.path().string(), .dtype = DType::f16});
  CHECK(halves.schema()[0].dtype == DType::f16);
  i = 0;
  for (const auto& [name, slide] : slides) {
    const OwnedSample record = read_sample(halves, i++);
    CHECK(same(record["features"], record["coords"], slide));
  }
  const FeatureBagSource one({.path = folder / "g.h5", .coords = ""});
  CHECK(one.schema().to_string() == "{features: f16[?, 24]}");
  CHECK(floats_of(read_sample(one, 0)["features"]) == slides.at("g").features);

  const auto make = [&] { return FeatureBagSource({.path = folder.path().string()}); };
  const auto other = [&] { return share(FeatureBagSource({.path = folder.path().string(), .coords = ""})); };
  CHECK(testing::check_source(make, {.unique_keys = true, .other = other}).text() == "");
}

TEST_CASE("bags of features come through loaders ragged, padded and by length, the same at any number of threads") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  const TempFolder folder;
  REQUIRE(std::system((script + "bags " + folder.path().string()).c_str()) == 0);
  const std::map<std::string, Slide> slides = slides_in(folder);
  std::vector<Slide> by_index;
  for (const auto& [name, slide] : slides) by_index.push_back(slide);
  const Pipeline bags = from(FeatureBags{.path = folder.path().string()}) | shuffle({.seed = 5});
  const Pipeline ragged_bags = bags | ragged("features") | ragged("coords") | batch(5);
  for (const unsigned threads : {1u, 4u}) {
    Loader loader(ragged_bags, {.threads = threads, .epochs = 2});
    std::multiset<std::uint64_t> seen;
    while (const auto b = loader.next())
      for (std::size_t row = 0; row < b->size(); ++row) {
        const std::uint64_t index = b->indices()[row];
        seen.insert(index);
        CHECK(same(b->ragged("features")[row], b->ragged("coords")[row], by_index[index]));
      }
    CHECK(seen.size() == by_index.size());
  }
  const Pipeline padded =
      bags | bucket("features", {.window = 12}) | pad("features") | pad("coords", {.value = -1}) | batch(4);
  std::vector<std::vector<std::uint64_t>> orders;
  for (const unsigned threads : {1u, 3u}) {
    std::vector<std::uint64_t>& order = orders.emplace_back();
    Loader loader(padded, {.threads = threads, .epochs = 1});
    while (const auto b = loader.next()) {
      order.insert(order.end(), b->indices().begin(), b->indices().end());
      const auto features = b->view<const float, 3>("features");
      const auto coords = b->view<const std::int64_t, 3>("coords");
      for (std::int64_t row = 0; row < features.extent(0); ++row) {
        const Slide& slide = by_index[b->indices()[static_cast<std::size_t>(row)]];
        CHECK(b->lengths("features")[static_cast<std::size_t>(row)] == slide.rows());
        for (std::int64_t k = 0; k < features.extent(1); ++k) {
          CHECK(features(row, k, 3) ==
                (k < slide.rows() ? slide.features[static_cast<std::size_t>(k * dimension + 3)] : 0));
          CHECK(coords(row, k, 1) == (k < slide.rows() ? slide.coords[static_cast<std::size_t>(2 * k + 1)] : -1));
        }
      }
    }
    CHECK(order.size() == by_index.size());
  }
  CHECK(orders[0] == orders[1]);
}

TEST_CASE("a folder of a FeatureSink is read, f32 and f16, with slides without tissue") {
  for (const DType dtype : {DType::f32, DType::f16}) {
    const TempFolder folder;
    FeatureSink sink({.folder = folder / "out", .dtype = dtype, .job = "test"});
    const std::vector<std::int64_t> rows{70, 0, 3};
    for (std::size_t s = 0; s < rows.size(); ++s) {
      sink.begin("s" + std::to_string(s));
      std::vector<float> features(static_cast<std::size_t>(rows[s] * 16));
      for (std::size_t i = 0; i < features.size(); ++i) features[i] = static_cast<float>(s + i % 100);
      std::vector<std::int64_t> coords(static_cast<std::size_t>(rows[s] * 2), 256);
      if (rows[s] != 0)
        sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {rows[s], 16}},
                 {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {rows[s], 2}});
      sink.end();
    }
    sink.begin("unfinished");
    const FeatureBagSource source({.path = folder / "out"});
    REQUIRE(source.size() == 3);
    CHECK(source.schema()[0] == Field{"features", dtype, {dynamic, 16}});
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const OwnedSample record = read_sample(source, s);
      CHECK(source.key(s) == "s" + std::to_string(s));
      CHECK(record["features"].shape == Shape{rows[s], 16});
      CHECK(record["coords"].shape == Shape{rows[s], 2});
      const std::vector<float> features = floats_of(record["features"]);
      for (std::size_t i = 0; i < features.size(); ++i) CHECK(features[i] == static_cast<float>(s + i % 100));
    }
    // Said by hand, no file is opened; said wrongly, it is each record's error.
    CHECK(FeatureBagSource({.path = folder / "out", .dimension = 16, .dtype = dtype}).notes().empty());
    const FeatureBagSource wrong({.path = folder / "out", .dimension = 8, .dtype = dtype});
    const Error error = error_of([&] { (void)read_sample(wrong, 0); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(mentions(error, "its features have 16 numbers each, and `dimension` is 8"));
    CHECK(read_sample(wrong, 1)["features"].shape == Shape{0, 8});
  }
}

TEST_CASE("what is wrong with one slide is that record's error, with its file and name") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  const TempFolder folder;
  REQUIRE(std::system((script + "bad_bags " + folder.path().string()).c_str()) == 0);
  folder.write("garbage.h5", "this is no HDF5");
  const FeatureBagSource source({.path = folder.path().string()});
  const auto error_in = [&](const std::string& name) {
    std::uint64_t i = 0;
    while (source.key(i) != name) ++i;
    CAPTURE(name);
    Error error = error_of([&] { (void)read_sample(source, i); });
    CHECK(error.sample_scoped());
    CHECK(error.key() == name);
    CHECK(error.file() == folder / (name + ".h5"));
    CHECK(error.index() == i);
    return error;
  };
  CHECK(mentions(error_in("wide"), "have 9 numbers each, and those of " + folder / "a_good.h5" + " have 8"));
  CHECK(mentions(error_in("doubles"), "`features` are f64 [4][8]"));
  CHECK(mentions(error_in("whole"), "`features` are i32 [4][8]"));
  CHECK(mentions(error_in("cube"), "[2][4, 8]"));
  CHECK(mentions(error_in("vector"), "`features` are f32 [8][]"));
  CHECK(error_in("scalar").code() == Errc::unsupported);
  CHECK(mentions(error_in("fewer"), "it has 4 rows of `features`, and 3 of `coords`"));
  CHECK(mentions(error_in("floats"), "`coords` are f64 [4][2]"));
  CHECK(mentions(error_in("triples"), "`coords` are i64 [4][3]"));
  CHECK(mentions(error_in("one_more"), "`coords` are i64 [1][4, 2], and should be whole numbers [N, 2]"));
  CHECK(mentions(error_in("far"), "beyond any slide"));
  CHECK(error_in("no_coords").code() == Errc::not_found);
  CHECK(error_in("no_features").code() == Errc::not_found);
  CHECK(error_in("garbage").code() == Errc::corrupt);

  // A run goes on without them, and counts them. What is too large is refused before there is memory for it.
  std::filesystem::remove(folder.path() / "wide.h5");
  const Pipeline p =
      from(source) | on_error({.policy = OnError::drop}) | ragged("features") | ragged("coords") | batch(4);
  Loader loader(p, {.threads = 3, .epochs = 1});
  std::uint64_t good = 0;
  while (const auto b = loader.next())
    for (const std::uint64_t i : b->indices()) good += source.key(i) == "a_good" ? 1 : 100;
  CHECK(good == 1);
  CHECK(error_in("wide").code() == Errc::not_found);
  Loader strict(from(source) | skip(1) | ragged("features") | ragged("coords") | batch(4), {.threads = 2});
  CHECK(error_of([&] { (void)strict.next(); }).key() == "cube");
  const Error huge = error_of([&] {
    std::uint64_t i = 0;
    while (source.key(i) != "huge") ++i;
    (void)(from(source) | select({i})).at(0);
  });
  CHECK(huge.code() == Errc::limit_exceeded);
  CHECK(huge.key() == "huge");
}

TEST_CASE("the first file with rows that can be read says dimension and dtype") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "in" / "more");
  const std::string in = folder / "in";
  CHECK(mentions(error_of([&] { FeatureBagSource({.path = in}); }), "has no files that end in .h5"));
  folder.write("in/a.h5", "broken");
  CHECK(error_of([&] { FeatureBagSource({.path = in}); }).code() == Errc::corrupt);
  REQUIRE(std::system((script + "bags " + in + "/more").c_str()) == 0);
  std::filesystem::rename(in + "/more/l.h5", in + "/b.h5");
  std::filesystem::copy(in + "/b.h5", in + "/.hidden.h5");
  for (const char* const skipped : {"in/._b.h5", "in/@eaDir/b.h5", "in/more/__MACOSX/b.h5", "in/Thumbs.db"})
    folder.write(skipped, "x");
  std::filesystem::rename(in + "/more/k.h5", in + "/more/k.H5");
  const FeatureBagSource source({.path = in});
  CHECK(source.size() == 13);
  CHECK(source.key(1) == "b");
  CHECK(source.key(2) == "more/a.1");
  CHECK(source.schema()[0].shape == Shape{dynamic, dimension});
  CHECK(source.notes() == std::vector<std::string>{"passed over: 1 file (.txt 1); files of features end in .h5",
                                                   "features are f32 [?, 24], as " + in + "/more/a.1.h5 says"});
  const TempFolder empty;
  std::filesystem::copy(in + "/b.h5", empty / "b.h5");
  CHECK(mentions(error_of([&] { FeatureBagSource({.path = empty.path().string()}); }), "say `dimension` and `dtype`"));
  CHECK(FeatureBagSource({.path = empty.path().string(), .dimension = 4, .dtype = DType::f32}).size() == 1);
  CHECK(error_of([&] { FeatureBagSource({.path = empty / "none"}); }).code() == Errc::not_found);
  CHECK(error_of([&] { FeatureBagSource({}); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { FeatureBagSource({.path = in, .dtype = DType::f64}); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { FeatureBagSource({.path = in, .group = "patient"}); }).code() == Errc::invalid_argument);
}

TEST_CASE("two files of one slide are refused, as features and as lists of places") {
  const TempFolder folder;
  // The second name comes between them.
  for (const char* const name : {"in/more/a.H5", "in/more/a.b.h5", "in/more/a.h5", "in/a.h5"}) folder.write(name, "x");
  const std::string in = folder / "in";
  for (const Error& error : {error_of([&] { FeatureBagSource({.path = in, .dimension = 4, .dtype = DType::f32}); }),
                             error_of([&] { (void)read_coords(in); })}) {
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.file() == in + "/more/a.h5");
    CHECK(mentions(error, "it and " + in + "/more/a.H5 are two files of the slide more/a; keep one of them"));
  }
}

TEST_CASE("folders are walked by links, but not in circles, and what is hidden or gone is told apart") {
  const TempFolder folder, away;
  {
    FeatureSink sink({.folder = folder / "made", .job = "test", .sync = false});
    for (const char* const slide : {"1", "2"}) {
      sink.begin(slide);
      std::vector<float> features(8);
      std::vector<std::int64_t> coords(4);
      sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {2, 4}},
               {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {2, 2}});
      sink.end();
    }
  }
  const std::filesystem::path made = folder.path() / "made/h5_files", in = folder.path() / "in";
  std::filesystem::create_directories(in / "A/.snapshot");
  std::filesystem::create_directories(away.path() / "deep");
  std::filesystem::copy(made / "1.h5", in / "A/.snapshot/1.h5");
  std::filesystem::copy(made / "1.h5", in / "A/1.h5");
  std::filesystem::copy(made / "2.h5", away.path() / "deep/2.h5");
  const auto names = [&](const std::string& path) {
    const FeatureBagSource source({.path = path});
    std::string found;
    for (std::uint64_t i = 0; i < source.size(); ++i) found += source.key(i) + " ";
    return found;
  };
  // Folders alone, without a file beside them.
  CHECK(names(in) == "A/1 ");
  std::filesystem::create_symlink("nowhere/3.h5", in / "3.h5");
  std::filesystem::create_directory_symlink(away.path(), in / "B");
  std::filesystem::create_directory_symlink(away.path(), in / "C");
  std::filesystem::create_directory_symlink(in, away.path() / "back");
  std::filesystem::create_directory_symlink(in / "A", in / "0");
  std::filesystem::create_symlink(made / "2.h5", in / "4.h5");
  CHECK(names(in) == "3 4 A/1 B/deep/2 ");
  const FeatureBagSource source({.path = in});
  const Error gone = error_of([&] { (void)read_sample(source, 0); });
  CHECK(gone.code() == Errc::not_found);
  CHECK(gone.sample_scoped());
  CHECK(gone.key() == "3");
  CHECK(read_sample(source, 3)["features"].shape == Shape{2, 4});
  // CLAM's folder beside others.
  std::filesystem::remove(in / "3.h5");
  std::filesystem::remove(in / "4.h5");
  std::filesystem::create_directory(in / "h5_files");
  CHECK(names(in) == "A/1 B/deep/2 ");
  std::filesystem::copy(made / "2.h5", in / "h5_files/5.h5");
  CHECK(names(in) == "5 ");
}
