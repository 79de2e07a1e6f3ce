// What stands in a table of text, by each reader of tables that say something of other data.
#include <functional>
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
      {"labels of files", "a.jpg", "b.jpg",
       [](const TempFolder& f, const std::string& table) {
         return labels_in(FilesSource({.root = f / "images", .labels = table}));
       }},
      {"slides", "a", "b.tif",
       [](const TempFolder& f, const std::string& table) {
         return labels_in(SlideSource({.files = f / "slides/*.tif", .size = 64, .labels = table}));
       }},
      {"bags of features", "a", "b",
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
      {"a number with a space in its quotes", "item,label\nA,\"10 \"\nB,\"x\"\n", {{"10 ", "x"}, {0, 1}}},
      {"numbers and names", "item,label\nA,10\nB,x\n", {{"10", "x"}, {0, 1}}},
      {"commas, quotes and line ends in quotes",
       "item,label\nA,\"x, \"\"1\"\"\"\nB,\"y\n2\"\n",
       {{"x, \"1\"", "y\n2"}, {0, 1}}},
      {"spaces in quotes", "item,label\nA,\" x\"\nB,y\n", {{" x", "y"}, {0, 1}}},
      {"empty lines", "\nitem,label\n\nA,x\n  \nB,y\n\n", names},
      {"semicolons", "item;label\nA;x\nB;y\n", names},
      {"semicolons and spaces", "item ; label\nA ; \"x\" \nB;\ty\n", names},
      {"commas in cells between semicolons", "item;label\nA;x,1\nB;y\n", {{"x,1", "y"}, {0, 1}}},
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
        CHECK(reader.read(folder, folder / table.file) == table.read);
        continue;
      }
      const Error error = error_of([&] { (void)reader.read(folder, folder / table.file); });
      CHECK(error.code() == table.code);
      CHECK(error.cause().find(table.refused) != std::string::npos);
      CHECK(error.file() == folder / table.file);
    }
  }
}

}  // namespace PENSTOCK_TEST_FILE
