// SPDX-License-Identifier: Apache-2.0
// What a table says of slides that have features.
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/feature_bags.hpp>
#include <penstock/sources/feature_sink.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Whole = std::vector<std::int64_t>;

// A folder of features of slides with these names, each of its number's rows and one.
void write_features(const TempFolder& folder, const std::vector<std::string>& names) {
  FeatureSink sink({.folder = folder / "features", .job = "test", .sync = false});
  for (std::size_t s = 0; s < names.size(); ++s) {
    sink.begin(names[s]);
    const auto rows = static_cast<std::int64_t>(s + 1);
    std::vector<float> features(4 * (s + 1), static_cast<float>(s));
    std::vector<std::int64_t> coords(2 * (s + 1));
    sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {rows, 4}},
             {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {rows, 2}});
    sink.end();
  }
}

}  // namespace

TEST_CASE("columns of a table are fields, groups and labels of slides") {
  const TempFolder folder;
  write_features(folder, {"p1-a.x", "p1-b", "p2", "p3"});
  folder.write("cohort.csv",
               ",slide,patient,kind,months,age,note\n"
               "0,p3.svs,C,lumA,,70,x\n"
               "1,/data/old/p1-b.tiff, A ,her2,1.5,+71,y\n"
               "2,p2.ome.tif,B,lumA,-2,72,z\n"
               "3,p1-a.x,A,basal,3e1,73,\"w, v\"\n"
               "4,p9,D,zeta,4,74,x\n");
  const FeatureBags options{.path = folder / "features", .labels = folder / "cohort.csv", .group = "patient"};
  const FeatureBagSource source(options);
  CHECK(source.schema().to_string() ==
        "{features: f32[?, 4], coords: i64[?, 2], kind: i64[], months: f32[], age: i64[], note: i64[]}");
  // A slide that isn't there has a class too.
  CHECK(source.schema().at("kind").classes == ClassNames({"basal", "her2", "lumA", "zeta"}));
  CHECK(source.labels("kind") == Whole{0, 1, 2, 2});
  CHECK(source.labels("age") == Whole{73, 71, 72, 70});
  CHECK(!source.labels("months"));
  CHECK(source.groups() == std::vector<Group>{{"A", 1}, {"A", 2}, {"B", 3}, {"C", 4}});
  const OwnedSample last = read_sample(source, 3), second = read_sample(source, 1);
  CHECK(std::isnan(*last["months"].as<const float, 0>().data()));
  CHECK(*last["kind"].as<const std::int64_t, 0>().data() == 2);
  CHECK(*second["months"].as<const float, 0>().data() == 1.5f);
  CHECK(*second["age"].as<const std::int64_t, 0>().data() == 71);
  CHECK(source.notes().front() == folder / "cohort.csv" + ": 1 line is of slides that are not there");

  // By group no patient is on both sides, and classes come equally often in a draw.
  const Pipeline all = from(options);
  std::set<std::string> patients;
  for (std::uint64_t part = 0; part < 2; ++part) {
    const Pipeline half = all | split({.shares = {1, 1}, .part = part, .by = SplitOptions::By::group, .salt = 3});
    std::set<std::string> here;
    std::vector<std::uint64_t> indices(half.size());
    half.fill(0, 0, indices);
    for (const std::uint64_t i : indices) here.insert(source.groups()[i].name);
    for (const std::string& patient : here) CHECK(patients.insert(patient).second);
  }
  CHECK((all | draw_balanced("kind", {.count = 9})).size() == 9);
  FeatureBags other = options;
  other.columns = {"age", "patient"};
  CHECK(FeatureBagSource(other).schema().to_string() ==
        "{features: f32[?, 4], coords: i64[?, 2], age: i64[], patient: i64[]}");
  CHECK(FeatureBagSource(other).identity() != source.identity());
}

TEST_CASE("slides are found by their names, the ends of paths, and with any ending") {
  const TempFolder folder;
  write_features(folder, {"1"});
  for (const char* sub : {"A", "B"}) {
    std::filesystem::create_directories(folder.path() / "features/h5_files" / sub);
    std::filesystem::copy(folder / "features/h5_files/1.h5",
                          folder / ("features/h5_files/" + std::string(sub) + "/1.h5"));
    std::filesystem::copy(folder / "features/h5_files/1.h5",
                          folder / ("features/h5_files/" + std::string(sub) + "/" + sub + "2.h5"));
  }
  std::filesystem::remove(folder.path() / "features/h5_files/1.h5");
  const auto labels_by = [&](const std::string& lines) {
    folder.write("t.csv", "file,y\n" + lines);
    const FeatureBagSource source(
        {.path = folder / "features", .labels = folder / "t.csv", .unlisted = FeatureBags::Unlisted::leave_out});
    std::string found;
    for (std::uint64_t i = 0; i < source.size(); ++i)
      found += source.key(i) + "=" + std::to_string(source.labels("y")->at(i)) + " ";
    return found;
  };
  CHECK(labels_by("A/1,5\nB/1.svs,6\nA2.tif,7\n/mnt/x/B/B2.svs,8\n") == "A/1=5 A/A2=7 B/1=6 B/B2=8 ");
  CHECK(labels_by("A2,7\n") == "A/A2=7 ");
  CHECK(labels_by("C/A2,6\nx/A/A2.tif,7\n") == "A/A2=7 ");
  CHECK(labels_by("a/b/c/d/e/f/A/A2.ome.tif,7\n/B/1,3\n" + std::string(1000, '/') + ",4\n") == "A/A2=7 B/1=3 ");
  CHECK(mentions(error_of([&] { labels_by("1.svs,5\n"); }), "which any of several could be"));
  CHECK(mentions(error_of([&] { labels_by("A2,5\nA/A2.svs,6\n"); }), "are of the same slide, \"A/A2\""));
  CHECK(mentions(error_of([&] { labels_by("x,5\n"); }), "no column has the name of a slide in it"));
}

TEST_CASE("tables that can't be right are refused with what to do") {
  const TempFolder folder;
  write_features(folder, {"a", "b"});
  const auto refusal = [&](const std::string& text, FeatureBags options = {}) {
    folder.write("t.csv", text);
    options.path = folder / "features";
    options.labels = folder / "t.csv";
    const Error error = error_of([&] { FeatureBagSource source(options); });
    CHECK(error.code() == Errc::invalid_argument);
    return std::string(error.what());
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(refusal("slide,y\na,1\n"), "1 slide of 2 have no line in " + folder / "t.csv" + ": b"));
  CHECK(has(refusal("slide,y\na,1\nb,\n"), "has no value in the column \"y\""));
  CHECK(has(refusal("slide,y\na,1\nb,NA\n"), "has no value in the column \"y\""));
  CHECK(has(refusal("slide,y\na,u\nb,\n"), "has no value in the column \"y\""));
  CHECK(has(refusal("slide,y\na,1\nb,1e300\n"), "that neither i64 nor f32 holds: 1e300"));
  CHECK(has(refusal("slide,p,y\na,1,1\nb,,2\n", {.path = "", .group = "p"}), "which says what slides belong together"));
  CHECK(has(refusal("slide,y\na,1\nb,2\n", {.path = "", .columns = {"z"}}),
            "there is no column \"z\"; the columns are slide, y"));
  CHECK(has(refusal("slide,y,y\na,1,2\nb,2,3\n"), "two columns have the name \"y\""));
  CHECK(has(refusal("slide,other\na,b\nb,a\n"), "both name slides, and not the same ones"));
  CHECK(has(refusal("slide,features\na,1\nb,2\n"), "name other columns"));
  CHECK(has(refusal("slide,y\n"), "it has a header, and no lines"));
  CHECK(has(refusal("slide,y\nc,1\nd,2\n"), "say which one is meant in `slide_column`"));
  CHECK(has(refusal("slide,y\na,1\nb,1e400\n"), "that neither i64 nor f32 holds: 1e400"));
  folder.write("t.csv", "slide,other\na,b\nb,a\n");
  const FeatureBagSource said({.path = folder / "features", .labels = folder / "t.csv", .slide_column = "other"});
  CHECK(said.labels("slide") == Whole{1, 0});
  CHECK(error_of([&] { FeatureBagSource source({.path = folder / "features", .labels = folder / "no.csv"}); }).code() ==
        Errc::not_found);
  // Every n-th alone.
  folder.write("t.csv", "slide,y\nb,4\n");
  const FeatureBagSource left(
      {.path = folder / "features", .labels = folder / "t.csv", .unlisted = FeatureBags::Unlisted::leave_out});
  REQUIRE(left.size() == 1);
  CHECK(left.key(0) == "b");
  CHECK(read_sample(left, 0)["features"].shape == Shape{2, 4});
  CHECK(left.notes().front() == "1 slide left out, without a line in " + folder / "t.csv" + ": a");
}

TEST_CASE("what follows a dot is part of a slide's name where no file ends in it") {
  const TempFolder folder;
  write_features(folder, {"S1", "S2.5"});
  const std::string files = folder / "features/h5_files";
  std::filesystem::create_directories(files + "/A");
  std::filesystem::copy(files + "/S1.h5", files + "/A/S1.1.h5");
  const auto lines = [&](const std::string& text) {
    folder.write("t.csv", "slide,y\n" + text);
    const FeatureBagSource source(
        {.path = files, .labels = folder / "t.csv", .unlisted = FeatureBags::Unlisted::leave_out});
    std::string found;
    for (std::uint64_t i = 0; i < source.size(); ++i)
      found += source.key(i) + "=" + std::to_string(source.labels("y")->at(i)) + " ";
    return found;
  };
  CHECK(mentions(error_of([&] { lines("S1.5,1\n"); }), "no column has the name of a slide in it"));
  CHECK(lines("S1,0\nS1.5,1\nS2.5,2\n") == "S1=0 S2.5=2 ");
  CHECK(lines("S1.1,3\n") == "A/S1.1=3 ");
  CHECK(lines("S1.1.svs,3\nS1.pt,4\nS2.5.OME.TIF,5\n") == "A/S1.1=3 S1=4 ");
  for (const char* const ending : {".h5", ".pt", ".npy", ".svs", ".SVS", ".ome.tif", ".qptiff"}) {
    CAPTURE(ending);
    CHECK(lines("S2.5" + std::string(ending) + ",6\n") == "S2.5=6 ");
  }
  CHECK(mentions(error_of([&] { lines("S2.5.txt,1\n"); }), "no column has the name of a slide in it"));
}

TEST_CASE("names of columns and cells have no spaces around them") {
  const TempFolder folder;
  write_features(folder, {"a", "b"});
  folder.write("t.csv", "slide , label ,\tp\na , x, 1\n b,y ,2\n");
  const FeatureBagSource source(
      {.path = folder / "features", .labels = folder / "t.csv", .slide_column = "slide", .group = "p"});
  CHECK(source.schema().at("label").classes == ClassNames({"x", "y"}));
  CHECK(source.labels("label") == Whole{0, 1});
  CHECK(source.groups() == std::vector<Group>{{"1", 1}, {"2", 2}});
}

TEST_CASE("numbers with commas between commas are names, and that is told, and cells lose padding in quotes") {
  const TempFolder folder;
  write_features(folder, {"a", "b"});
  folder.write("t.csv", "slide,label\n\"a \",\"1,5 \"\nb,\"2,5\"\n");
  const FeatureBagSource source({.path = folder / "features", .labels = folder / "t.csv", .slide_column = "slide"});
  CHECK(source.schema().at("label").classes == ClassNames({"1,5", "2,5"}));
  REQUIRE(!source.notes().empty());
  CHECK(source.notes().front().find("becomes numbers of classes, though most of its cells are numbers") !=
        std::string::npos);
  folder.write("t.csv", "slide,label\na,1\nb,\"  \"\n");
  CHECK(error_of([&] {
          FeatureBagSource({.path = folder / "features", .labels = folder / "t.csv", .slide_column = "slide"});
        })
            .cause()
            .find("has no value in the column") != std::string::npos);
}

TEST_CASE("a word for a missing number leaves a column one of numbers, and other words are told") {
  const TempFolder folder;
  write_features(folder, {"a", "b", "c", "d"});
  const auto open = [&](const std::vector<std::string>& cells) {
    std::string text = "slide,y\n";
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += std::string(1, static_cast<char>('a' + i)) + "," + cells[i] + "\n";
    folder.write("t.csv", text);
    return FeatureBagSource({.path = folder / "features",
                             .dimension = 4,
                             .dtype = DType::f32,
                             .labels = folder / "t.csv",
                             .slide_column = "slide"});
  };
  for (const char* const word : {"N/A", "n/a", "#N/A", "nan", "NaN", "NULL", "null", "NA", ""}) {
    CAPTURE(word);
    const FeatureBagSource numbers = open({"1.5", "2", word, "4"});
    CHECK(numbers.schema().at("y") == Field{"y", DType::f32, {}});
    CHECK(std::isnan(*read_sample(numbers, 2)["y"].as<const float, 0>().data()));
    CHECK(*read_sample(numbers, 3)["y"].as<const float, 0>().data() == 4);
    CHECK(numbers.notes().empty());
    if (std::string(word) == "nan" || std::string(word) == "NaN")
      CHECK(open({"1", "2", word, "4"}).schema().at("y").dtype == DType::f32);
    else
      CHECK(mentions(error_of([&] {
                       open({"1", "2", word, "4"});
                     }),
                     "t.csv:00000004 has no value in the column \"y\""));
    const bool no_class = *word == '\0' || std::string(word) == "NA";
    if (no_class) continue;
    const FeatureBagSource classes = open({"up", "down", word, "1"});
    CHECK(classes.schema().at("y").classes.size() == 4);
    CHECK(classes.notes().empty());
  }
  CHECK(open({"none", "1", "None", "2"}).schema().at("y").classes == ClassNames({"1", "2", "None", "none"}));
  CHECK(open({"N/A", "N/A", "null", "N/A"}).schema().at("y").classes == ClassNames({"N/A", "null"}));
  CHECK(open({"nan", "nan", "NaN", "nan"}).schema().at("y").dtype == DType::f32);
  const FeatureBagSource told = open({"1", "2", "unknown", "N/A"});
  CHECK(told.schema().at("y").classes.size() == 4);
  REQUIRE(told.notes().size() == 1);
  CHECK(told.notes()[0] == folder / "t.csv" +
                               ": the column \"y\" becomes numbers of classes, though most of its cells are numbers: "
                               "t.csv:00000004 has \"unknown\"");
  CHECK(open({"1", "2", "3", "10%"}).notes().size() == 1);
  CHECK(open({"1", "\"1,000\"", "3", "4"}).notes().size() == 1);
  CHECK(open({"1", "2", "x", "y"}).notes().empty());
}

TEST_CASE("the names of classes are part of the identity") {
  const TempFolder folder;
  write_features(folder, {"a", "b"});
  const auto identity = [&](const std::string& text) {
    folder.write("t.csv", text);
    return FeatureBagSource({.path = folder / "features", .labels = folder / "t.csv", .slide_column = "slide"})
        .identity();
  };
  const std::uint64_t first = identity("slide,y\na,benign\nb,tumor\n");
  CHECK(identity("slide,y\nb,tumor\na,benign\n") == first);
  CHECK(identity("slide,y\na,apple\nb,pear\n") != first);
  CHECK(identity("slide,y\na,benig\nb,ntumor\n") != first);
  CHECK(identity("slide,y\na,0\nb,1\n") != first);
}
