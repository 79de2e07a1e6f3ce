// SPDX-License-Identifier: Apache-2.0
// What stands in a table of text, by each reader of tables that say something of other data.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/feature_bags.hpp>
#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/slide.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

struct Read {
  std::vector<std::string> classes;
  std::vector<std::int64_t> labels;  // of the first thing, and of the second one
  friend bool operator==(const Read&, const Read&) = default;
};

struct TableReader {
  std::string name;
  std::string first, second;  // what its tables call things
  bool keeps_quoted;          // spaces in quotes, too
  std::function<Read(const TempFolder& folder, const std::string& table)> read;
};

template <class Source>
Read labels_in(const Source& source) {
  return {source.schema().at("label").classes.names(), source.labels("label").value()};
}

void write_things(const TempFolder& folder) {
  for (const std::string name : {"a", "b"}) {
    folder.write("images/" + name + ".jpg", "x");
    write_slide(folder / ("slides/" + name + ".tif"), {.width = 64, .height = 64});
    folder.write("features/" + name + ".h5", "not looked at");
  }
}

std::vector<TableReader> readers() {
  return {
      {"labels of files", "a.jpg", "b.jpg", true,
       [](const TempFolder& f, const std::string& table) {
         return labels_in(FilesSource({.root = f / "images", .labels = table}));
       }},
      {"slides", "a", "b.tif", false,
       [](const TempFolder& f, const std::string& table) {
         return labels_in(SlideSource({.files = f / "slides/*.tif", .size = 64, .labels = table}));
       }},
      {"bags of features", "a", "b", false,
       [](const TempFolder& f, const std::string& table) {
         return labels_in(FeatureBagSource(
             {.path = f / "features", .dimension = 4, .dtype = DType::f32, .labels = table, .slide_column = "item"}));
       }},
  };
}

struct Table {
  std::string name, text;  // A and B stand for things
  Read read;
  std::string refused = {};  // in its error; empty: it is read
  Errc code = Errc::corrupt;
  std::string file = "t.csv";
  std::optional<Read> trimmed = {};  // by readers that don't keep spaces in quotes; none: the same
};

std::string with_things(std::string text, const TableReader& reader) {
  for (const auto& [letter, thing] : {std::pair('A', reader.first), std::pair('B', reader.second)})
    for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos; at += thing.size())
      text.replace(at, 1, thing);
  return text;
}

std::vector<Table> tables() {
  const Read names{{"x", "y"}, {0, 1}}, numbers{{}, {10, 2}};
  return {
      {"plain", "item,label\nA,x\nB,y\n", names},
      {"without a last line end", "item,label\nA,x\nB,y", names},
      {"a byte order mark and CR LF", "\xef\xbb\xbfitem,label\r\nA,x\r\nB,y\r\n", names},
      {"spaces and tabs around cells", " item ,\tlabel\n A\t, x \n\tB ,y\t\n", names},
      {"spaces around quotes", "item, \"label\"\n \"A\" ,\t\"x\"\nB, \"y\" \n", names},
      {"a number with a space after it", "item,label\nA,10 \nB, 2\n", numbers},
      {"numbers in quotes", "item,label\nA,\"10\"\nB,\"2\"\n", numbers},
      {"numbers with spaces in their quotes",
       "item,label\nA,\"10 \"\nB,\"  2\"\n",
       {{"  2", "10 "}, {1, 0}},
       {},
       {},
       "t.csv",
       numbers},
      {"a name that is padded in quotes, and one that is not",
       "item,label\nA,\"x  \"\nB,x\n",
       {{"x", "x  "}, {1, 0}},
       {},
       {},
       "t.csv",
       {{{"x"}, {0, 0}}}},
      {"a tab in quotes", "item,label\nA,\"\tx\"\nB,y\n", {{"\tx", "y"}, {0, 1}}, {}, {}, "t.csv", names},
      {"numbers and names", "item,label\nA,10\nB,x\n", {{"10", "x"}, {0, 1}}},
      {"commas, quotes and line ends in quotes",
       "item,label\nA,\"x, \"\"1\"\"\"\nB,\"y\n2\"\n",
       {{"x, \"1\"", "y\n2"}, {0, 1}}},
      {"things' names that are padded in quotes", "item,label\n\"A\",x\n\"B\",y\n", names},
      {"empty lines", "\nitem,label\n\nA,x\n  \nB,y\n\n", names},
      {"semicolons", "item;label\nA;x\nB;y\n", names},
      {"semicolons and spaces", "item ; label\nA ; \"x\" \nB;\ty\n", names},
      {"commas in cells between semicolons", "item;label\nA;x,1\nB;y\n", {{"x,1", "y"}, {0, 1}}},
      {"numbers with points between semicolons", "item;label\nA;10\nB;2\n", numbers},
      {"decimal commas and names", "item;label\nA;0,5\nB;y\n", {{"0,5", "y"}, {0, 1}}},
      {"names that are numbers with two commas", "item;label\nA;1,2,3\nB;2\n", {{"1,2,3", "2"}, {0, 1}}},
      {"a comma in quotes between commas", "item,label\nA,\"1,5\"\nB,2\n", {{"1,5", "2"}, {0, 1}}},
      {"decimal commas between semicolons",
       "item;label\nA;3\nB;-0,5\n",
       {},
       "-0,5, a number with a comma: ",
       Errc::invalid_argument},
      {"decimal commas between tabs",
       "item\tlabel\nA\t\"1,5e3\"\nB\t2,5\n",
       {},
       "1,5e3, a number with a comma: ",
       Errc::invalid_argument},
      {"a comma in the heading between semicolons", "item;label;size, in mm\nA;x;1\nB;y;2\n", names},
      {"a comma in the heading between tabs", "item\tlabel\tsize, in mm\nA\tx\t1\nB\ty\t2\n", names},
      {"a semicolon in the heading between tabs", "item\tlabel\tsize; mm\nA\tx\t1\nB\ty\t2\n", names},
      {"a comma in the heading, and decimal commas",
       "item;label, of it\nA;0,5\nB;2\n",
       {},
       "0,5, a number with a comma: ",
       Errc::invalid_argument},
      {"semicolons in cells between commas", "item,label\nA,x;1\nB,y;2\n", {{"x;1", "y;2"}, {0, 1}}},
      {"a semicolon in the heading between commas", "item,label,size;mm\nA,x,1\nB,y,2\n", names},
      {"semicolons in each line between commas", "item,label,size;mm\nA,x,1;2\nB,y,3;4\n", names},
      {"blanks before semicolons", " \t\n\n  \nitem;label\nA;x\nB;y\n", names},
      {"blanks before tabs", " \t \nitem\tlabel\nA\tx\nB\ty\n", names},
      {"a line of one cell below blanks", " \n\t\nitem;label, x\nA\nB;y\n", {}, "line 4"},
      {"tabs", "item\tlabel\nA\tx \nB\t\"y\"\n", names},
      {"tabs by the file's name", "item\tlabel\nA\tx,1\nB\ty\n", {{"x,1", "y"}, {0, 1}}, {}, {}, "t.TSV"},
      {"a line of one cell", "item,label\nA\nB,y\n", {}, "line 2"},
      {"a quote that is never closed", "item,label\nA,x\nB,\"y\n", {}, "line 3: a quote is never closed"},
      {"text after a quote", "item,label\nA,\"x\"1\nB,y\n", {}, "line 2: there is text after a closing quote"},
      {"CR alone", "item,label\rA,x\rB,y\r", {}, "its lines end in CR alone"},
      {"UTF-16", std::string("\xff\xfei\0t\0", 6), {}, "the file is UTF-16", Errc::unsupported},
  };
}

}  // namespace

TEST_CASE("cells of a table of text are the same for each reader of such tables") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "slides");
  write_things(folder);
  for (const TableReader& reader : readers()) {
    for (const Table& table : tables()) {
      CAPTURE(reader.name, table.name);
      folder.write(table.file, with_things(table.text, reader));
      if (table.refused.empty()) {
        const Read& wanted = table.trimmed && !reader.keeps_quoted ? *table.trimmed : table.read;
        CHECK(reader.read(folder, folder / table.file) == wanted);
        continue;
      }
      const Error error = error_of([&] { (void)reader.read(folder, folder / table.file); });
      CHECK(error.code() == table.code);
      CHECK(error.cause().find(table.refused) != std::string::npos);
      CHECK(error.file() == folder / table.file);
    }
  }
}

TEST_CASE("padding in quotes makes no other slide, group or value of a table's cells") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "slides");
  write_things(folder);
  folder.write("t.csv", "slide,patient,age\n\" a \",\"P1  \",\" 1.5\"\n\"b\",P1,\"NA \"\n");
  const SlideSource slides(
      {.files = folder / "slides/*.tif", .size = 64, .labels = folder / "t.csv", .group = "patient"});
  const FeatureBagSource bags({.path = folder / "features",
                               .dimension = 4,
                               .dtype = DType::f32,
                               .labels = folder / "t.csv",
                               .group = "patient"});
  CHECK(slides.groups() == std::vector<Group>{{"P1", 1}, {"P1", 2}});
  CHECK(bags.groups() == std::vector<Group>{{"P1", 1}, {"P1", 2}});
  CHECK(slides.schema().at("age").dtype == DType::f32);
  CHECK(bags.schema().at("age").dtype == DType::f32);
  folder.write("t.csv", "slide,label\na,\" NA\"\nb,x\n");
  const Error missing =
      error_of([&] { SlideSource({.files = folder / "slides/*.tif", .size = 64, .labels = folder / "t.csv"}); });
  CHECK(missing.cause().find("t.csv:00000002 has no value in the column \"label\"") != std::string::npos);
}

TEST_CASE("decimal commas are refused by line and column, unless the column isn't wanted") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "slides");
  write_things(folder);
  folder.write("t.csv", "slide;age;label;mpp\na;NA;3;0,25\nb;0,5;4;0,25\n");
  const auto read = [&](std::vector<std::string> columns, std::string mpp_column) {
    return SlideSource({.files = folder / "slides/*.tif",
                        .size = 64,
                        .labels = folder / "t.csv",
                        .columns = std::move(columns),
                        .mpp_column = std::move(mpp_column)});
  };
  const Error age = error_of([&] { read({}, ""); });
  CHECK(age.code() == Errc::invalid_argument);
  CHECK(age.cause() ==
        "t.csv:00000003 has 0,5, a number with a comma: in the column \"age\" numbers need a point, 0.5; write them "
        "so, or name the columns that you need in `columns`");
  const Error mpp = error_of([&] { read({"label"}, "mpp"); });
  CHECK(mpp.cause().find("t.csv:00000002 has 0,25, a number with a comma: ") != std::string::npos);
  CHECK(read({"label"}, "").labels("label") == std::vector<std::int64_t>{3, 4});
}

TEST_CASE("labels of files without a heading are split where a table can be, and decimal commas are refused by line") {
  struct Case {
    std::string text;
    std::vector<std::int64_t> labels;
    std::string refused = {};
  };
  const TempFolder folder;
  for (const std::string name : {"a.jpg", "b.jpg", "c;1", "d;2"}) folder.write("images/" + name, "x");
  for (const auto& [text, labels, refused] :
       {Case{"a.jpg;7\nb.jpg;8\n", {7, 8}},
        {"a.jpg,7\nb.jpg,8,x\n", {7, 8}},
        {"a.jpg;7;x, y\nb.jpg;8;z\n", {7, 8}},
        {"file;label, of it\na.jpg;7\n", {7}},
        {"a.jpg;0,5\nb.jpg;1,5\n", {}, "line 1 has the label 0,5, a number with a comma"},
        {"a.jpg;+0,5\nb.jpg;1\n", {}, "line 1 has the label +0,5, a number with a comma"},
        {"a.jpg;1\nb.jpg;-0,5\n", {}, "line 2 has the label -0,5, a number with a comma"},
        {"a.jpg;0,5;x\nb.jpg;1,5;y\n", {}, "line 1 has the label 0,5, a number with a comma"},
        {"file;label, of it\na.jpg;0,5\nb.jpg;1,5\n", {}, "line 2 has the label 0,5, a number with a comma"},
        // Commas between cells, as these files are there, and as lines have two cells at least.
        {"c;1,5\nd;2,7\n", {5, 7}},
        {"c;1,5\nd;2,7,x;y\n", {5, 7}},
        {"a.jpg,7;\nb.jpg,8;,x\n", {0, 1}}}) {
    CAPTURE(text);
    folder.write("t.csv", text);
    const auto read = [&] {
      return FilesSource({.root = folder / "images", .labels = folder / "t.csv"}).labels("label").value();
    };
    if (refused.empty())
      CHECK(read() == labels);
    else
      CHECK(error_of([&] { (void)read(); }).cause().find(refused) != std::string::npos);
  }
}

}  // namespace PENSTOCK_TEST_FILE
