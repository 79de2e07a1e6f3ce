// SPDX-License-Identifier: Apache-2.0
// What a CSV file says of slides becomes fields and groups.
#include <penstock/sources/slide.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Slides of two records each.
struct Cohort {
  explicit Cohort(const std::vector<std::string>& names) {
    for (const std::string& name : names) write_slide(folder / name, {.width = 128, .height = 64});
  }
  SlideSource open(const std::string& csv, Slides options = {}) const {
    folder.write("cohort.csv", csv);
    options.files = folder / "*.svs";
    options.size = 64;
    options.labels = folder / "cohort.csv";
    return SlideSource(options);
  }
  TempFolder folder;
};

template <class T>
std::vector<T> values(const SlideSource& source, std::string_view field) {
  std::vector<T> values;
  for (std::uint64_t i = 0; i < source.size(); i += 2) {
    values.push_back(*read_sample(source, i)[field].as<T, 0>().data());
    const T next = *read_sample(source, i + 1)[field].as<T, 0>().data();
    CHECK((next == values.back() || next != next));
  }
  return values;
}

using Whole = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("columns become fields: whole numbers, other numbers, classes by name") {
  const Cohort cohort({"a.svs", "b.svs", "c.svs"});
  const SlideSource source = cohort.open(
      "case,slide,grade,months,kind\n"
      "p2,c,3,1.5,tumor\n"
      "p1,a,1,NA, benign \n"
      "p1,b,2,12,tumor\n"
      "p9,z,,,zebra\n");
  CHECK(source.schema().to_string() ==
        "{image: u8[64, 64, 3], slide: i64[], x: i64[], y: i64[], case: i64[], grade: i64[], months: f32[], kind: "
        "i64[]}");
  CHECK(source.schema().at("kind").classes == ClassNames{"benign", "tumor", "zebra"});
  CHECK(source.schema().at("grade").classes.empty());
  CHECK(values<std::int64_t>(source, "grade") == Whole{1, 2, 3});
  CHECK(values<std::int64_t>(source, "kind") == Whole{0, 1, 1});
  CHECK(values<std::int64_t>(source, "case") == Whole{0, 0, 1});
  const std::vector<float> months = values<float>(source, "months");
  CHECK(std::isnan(months[0]));
  CHECK(months[1] == 12);
  CHECK(months[2] == 1.5f);
  CHECK(*source.labels("kind") == Whole{0, 0, 1, 1, 1, 1});
  CHECK_FALSE(source.labels("months").has_value());
  // What is no number is text, and so are numbers beside it.
  CHECK(cohort.open("slide,v\na,+-5\nb,12345678901234567890\nc,1\n").schema().at("v").classes ==
        ClassNames{"+-5", "1", "12345678901234567890"});
  CHECK(source.groups() == std::vector<Group>{{"a", 2}, {"b", 4}, {"c", 6}});
  const std::string plan = from(source).plan();
  CHECK(plan.find("1 line of " + (cohort.folder / "cohort.csv") + " passed over") != std::string::npos);
}

TEST_CASE("a column says which slides belong together") {
  const Cohort cohort({"a.svs", "b.svs", "c.svs"});
  const SlideSource source = cohort.open("slide,patient,y2\na,p1,0\nb,p2,1\nc,p1,2\n", {.group = "patient"});
  CHECK(source.groups() == std::vector<Group>{{"p1", 2}, {"p2", 4}, {"p1", 6}});
  CHECK_FALSE(source.schema().find("patient").has_value());
  const SlideSource both =
      cohort.open("slide,patient\na,p1\nb,p2\nc,p1\n", {.columns = {"patient"}, .group = "patient"});
  CHECK(values<std::int64_t>(both, "patient") == Whole{0, 1, 0});
  CHECK(both.groups().size() == 3);
}

TEST_CASE("lines name slides by their names or files") {
  const Cohort cohort({"TCGA-1.2.svs", "b.svs"});
  for (const char* name : {"TCGA-1.2", "TCGA-1.2.svs", "TCGA-1.2.TIFF", "/data/slides/TCGA-1.2.svs"}) {
    CAPTURE(name);
    CHECK(values<std::int64_t>(cohort.open("file,label\n" + std::string(name) + ",5\nb.tif,6\n"), "label") ==
          Whole{5, 6});
  }
  // The first column is not always it.
  CHECK(values<std::int64_t>(cohort.open("label,slide_id\n5,TCGA-1.2\n6,b\n"), "label") == Whole{5, 6});
  CHECK(values<std::int64_t>(cohort.open("b,slide_id\n5,TCGA-1.2\n6,b\n", {.slide_column = "slide_id"}), "b") ==
        Whole{5, 6});
}

TEST_CASE("a path in a table is that of a slide, not of another with its name") {
  const TempFolder folder;
  for (const char* name : {"A/1.svs", "A/2.svs", "B/1.svs", "C/P1.svs"}) {
    std::filesystem::create_directories(folder.path() / std::filesystem::path(name).parent_path());
    write_slide(folder / name, {.width = 64, .height = 64});
  }
  const auto open = [&](const std::string& lines, const std::vector<std::string>& slides) {
    folder.write("t.csv", "slide,label\n" + lines);
    Slides options{.size = 64, .labels = folder / "t.csv"};
    for (const std::string& slide : slides) options.paths.push_back(folder / slide);
    return SlideSource(options);
  };
  const auto labels = [&](const std::string& lines, const std::vector<std::string>& slides) {
    return *open(lines, slides).labels("label");
  };
  const auto refused = [&](const std::string& lines, const std::vector<std::string>& slides, const char* says) {
    const Error error = error_of([&] { open(lines, slides); });
    CAPTURE(lines, error.what());
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, says));
  };
  const std::string three = folder.path().filename().string() + "/";
  CHECK(labels("A/1.svs,5\nB/1,6\nA/2.svs,7\n", {"A/1.svs", "A/2.svs", "B/1.svs"}) == Whole{5, 7, 6});
  CHECK(labels(three + "A/1.svs,5\n" + three + "B/1.svs,6\n" + three + "A/2.tif,7\n",
               {"A/1.svs", "A/2.svs", "B/1.svs"}) == Whole{5, 7, 6});
  CHECK(labels("/x/y/A/1.svs,5\n/x/y/B/1.svs,6\n", {"A/1.svs", "B/1.svs"}) == Whole{5, 6});
  CHECK(labels("./../A/1.svs,5\nB/1.svs,6\n", {"B/1.svs"}) == Whole{6});
  CHECK(labels(folder / "A/1.svs" + ",5\n" + (folder / "A/2.svs") + ",6\n", {"A/1.svs", "A/2.svs"}) == Whole{5, 6});
  refused("A/1.svs,5\n", {"B/1.svs"}, "no column has the name of a slide");
  refused("/x/A/1.svs,5\n/x/D/2.svs,5\n", {"B/1.svs"}, "no column has the name of a slide");
  refused("P1.2,5\n", {"C/P1.svs"}, "no column has the name of a slide");
  refused("1.svs,5\nA/1.svs,6\n", {"A/1.svs", "B/1.svs"},
          "calls a slide \"1.svs\", which any of several could be; say more of its path");
  // A name that is whole, though the other's path ends so.
  write_slide(folder / "1.svs", {.width = 64, .height = 64});
  refused("1,5\nA/1,6\n", {"1.svs", "A/1.svs"}, "which any of several could be");
  CHECK(labels("./1,5\nA/1,6\n", {"1.svs", "A/1.svs"}) == Whole{5, 6});
  refused("/x/1,5\nA/1,6\n", {"1.svs", "A/1.svs"}, "which any of several could be");
  // A folder of another machine.
  const SlideSource moved = open("/x/1.svs,5\n/x/2.svs,6\n", {"A/1.svs", "A/2.svs"});
  CHECK(*moved.labels("label") == Whole{5, 6});
  REQUIRE(moved.left_out().size() == 1);
  CHECK(moved.left_out()[0].find("says that slides lie in /x/") != std::string::npos);
  const SlideSource deeper = open("/x/y/A/1.svs,5\n/x/y/B/1.svs,6\n", {"A/1.svs", "B/1.svs"});
  REQUIRE(deeper.left_out().size() == 1);
  CHECK(deeper.left_out()[0].find("says that slides lie in /x/y/A/") != std::string::npos);
  // A file that is there is that one, and no other with the end of its path.
  std::filesystem::create_directories(folder.path() / "b/A");
  write_slide(folder / "b/A/1.svs", {.width = 640, .height = 64});
  refused(folder / "b/A/1.svs" + ",5\n", {"A/1.svs"}, "no column has the name of a slide");
  CHECK(labels(folder / "b/A/1.svs" + ",5\n" + (folder / "A/1.svs") + ",6\n", {"A/1.svs"}) == Whole{6});
  // A copy of it.
  std::filesystem::create_directories(folder.path() / "c/A");
  std::filesystem::copy_file(folder / "A/1.svs", folder / "c/A/1.svs");
  const SlideSource copied = open(folder / "c/A/1.svs" + ",5\n", {"A/1.svs"});
  CHECK(*copied.labels("label") == Whole{5});
  CHECK(copied.left_out().size() == 1);
  // Another ending is that of a file that was converted, where no line has the file's own.
  CHECK(labels("A/1.tif,5\n", {"A/1.svs"}) == Whole{5});
  CHECK(labels("A/1.tif,5\nA/1.svs,6\n", {"A/1.svs"}) == Whole{6});
}

TEST_CASE("the column of names is the one that names most slides, each once") {
  const Cohort cohort({"1.svs", "2.svs"});
  const std::string grades = "slide_id,grade\n1,1\n2,2\n3,1\n4,2\n5,1\n";
  CHECK(values<std::int64_t>(cohort.open(grades), "grade") == Whole{1, 2});
  CHECK(values<std::int64_t>(cohort.open("grade,slide_id\n1,1\n1,2\n2,3\n2,4\n"), "grade") == Whole{1, 1});
  const Error error = error_of([&] { cohort.open("a,b\n1,x\n1,y\n"); });
  CHECK(mentions(error, "by the column \"a\"; where another column has the slides' names, say so in `slide_column`"));
  // Two columns that could be meant.
  const Error either = error_of([&] { cohort.open("fold,case,label\n2,1,7\n1,2,8\n"); });
  CHECK(either.code() == Errc::invalid_argument);
  CHECK(mentions(either, "the columns \"fold\" and \"case\" both name slides, and not the same ones"));
  CHECK(values<std::int64_t>(cohort.open("fold,case,label\n2,1,7\n1,2,8\n", {.slide_column = "case"}), "label") ==
        Whole{7, 8});
  CHECK(values<std::int64_t>(cohort.open("index,file,label\n2,1.svs,7\n1,2.svs,8\n"), "label") == Whole{7, 8});
  CHECK(values<std::int64_t>(cohort.open("id,file,label\n1,1,7\n2,2,8\n"), "label") == Whole{7, 8});
  const Error twice = error_of([&] { cohort.open("slide,label,label\n1,7,9\n2,8,9\n", {.columns = {"label"}}); });
  CHECK(mentions(twice, "two columns have the name \"label\""));
  const std::vector<std::string> guessed = cohort.open("case,grade,label\nx,1,7\ny,2,8\n").left_out();
  REQUIRE(guessed.size() == 1);
  CHECK(guessed[0].find("the column \"grade\"") == 0);
  CHECK(cohort.open("slide,grade\n1.svs,4\n2.svs,4\n").left_out().empty());
  // As pandas writes it.
  const SlideSource indexed = cohort.open(",slide,label\n0,1,7\n1,2,8\n", {.slide_column = "slide"});
  CHECK(values<std::int64_t>(indexed, "label") == Whole{7, 8});
  CHECK(indexed.schema().size() == 5);
}

TEST_CASE("slides without a line are refused, or left out") {
  const Cohort cohort({"a.svs", "b.svs", "c.svs"});
  const std::string csv = "slide,label\nc,7\na,5\n";
  const Error error = error_of([&] { cohort.open(csv); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "1 of 3 slides have no line: b;"));
  CHECK(error.file() == cohort.folder / "cohort.csv");
  const SlideSource source = cohort.open(csv, {.unlisted = Slides::Unlisted::leave_out});
  CHECK(source.size() == 4);
  CHECK(values<std::int64_t>(source, "label") == Whole{5, 7});
  CHECK(values<std::int64_t>(source, "slide") == Whole{0, 1});
  CHECK(source.key(2) == "c/000000_000000");
  CHECK(source.slides().size() == 2);
  CHECK(from(source).plan().find("1 slide left out") != std::string::npos);
}

TEST_CASE("tables that can't be what is meant are refused") {
  const Cohort cohort({"a.svs", "b.svs"});
  const auto refused = [&](const std::string& csv, const char* says, Slides options = {}) {
    const Error error = error_of([&] { cohort.open(csv, options); });
    CAPTURE(csv, error.what());
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, says));
  };
  refused("slide,label\na,1\nb,\n", "has no value in the column \"label\"");
  refused("slide,label\na,x\nb,NA\n", "has no value in the column \"label\"");
  refused("slide,label\na,1\nb,2\na.svs,3\n", "are of the same slide, \"a\"");
  refused("slide,label\na,12345678901234567890\nb,12345678901234567891\n",
          "cohort.csv:00000002 has a number in the column \"label\" that neither i64 nor f32 holds");
  refused("slide,label\na,0.5\nb,1e39\n", "cohort.csv:00000003 has a number in the column \"label\"");
  refused("slide,label\nx,1\ny,2\n", "no column has the name of a slide");
  refused("slide,x\na,1\nb,2\n", "has the name of a field that is there already");
  refused("slide,label\na,1\nb,2\n", "there is no column \"patient\"; the columns are slide, label",
          {.group = "patient"});
  refused("slide,label\na,1\nb,2\n", "there is no column \"grade\"", {.columns = {"grade"}});
  refused("slide,label\n", "it has a header, and no lines");
  refused("slide,label,p\na,1,\nb,2,p\n", "which says what slides belong together", {.group = "p"});
  CHECK(code_of([&] {
          SlideSource source({.files = cohort.folder / "*.svs", .labels = cohort.folder / "none.csv"});
        }) == Errc::not_found);
}

TEST_CASE("what a table says is part of the identity") {
  const Cohort cohort({"a.svs", "b.svs"});
  const std::uint64_t first = cohort.open("slide,label\na,1\nb,2\n").identity();
  CHECK(cohort.open("slide,label\nb,2\na,1\n").identity() == first);
  CHECK(cohort.open("slide,label\na,1\nb,3\n").identity() != first);
  CHECK(cohort.open("slide,grade\na,1\nb,2\n").identity() != first);
  CHECK(cohort.open("slide,label\na,one\nb,two\n").identity() != cohort.open("slide,label\na,one\nb,tow\n").identity());
}

TEST_CASE("a word for a missing number leaves a column one of numbers, and other words are told of slides") {
  const Cohort cohort({"a.svs", "b.svs", "c.svs"});
  const SlideSource source = cohort.open(
      "slide.svs , months , count , kind\n"
      "a.svs,1.5,1,none\n"
      "b.svs,N/A,unknown,low\n"
      "c.svs,3,2,N/A\n");
  CHECK(source.schema().to_string() ==
        "{image: u8[64, 64, 3], slide: i64[], x: i64[], y: i64[], months: f32[], count: i64[], kind: i64[]}");
  const std::vector<float> months = values<float>(source, "months");
  CHECK(months[0] == 1.5f);
  CHECK(std::isnan(months[1]));
  CHECK(source.schema().at("kind").classes == ClassNames{"N/A", "low", "none"});
  CHECK(source.schema().at("count").classes == ClassNames{"1", "2", "unknown"});
  const std::vector<std::string> told = source.left_out();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("the column \"count\" becomes numbers of classes") != std::string::npos);
  CHECK(told[0].find("cohort.csv:00000003 has \"unknown\"") != std::string::npos);
  const SlideSource sized = cohort.open("slide,mpp\na.svs,0.5\nb.svs,NaN\nc.svs,null\n", {.mpp_column = "mpp"});
  CHECK(sized.slides().size() == 3);
  CHECK(code_of([&] { cohort.open("slide,n\na.svs,1\nb.svs,null\nc.svs,2\n"); }) == Errc::invalid_argument);
}
