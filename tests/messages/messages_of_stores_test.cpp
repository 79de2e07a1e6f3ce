// SPDX-License-Identifier: Apache-2.0
// What is said of stores and tables, as their users read it.
#include <hdf5.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/extend/job_facts.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/json_lines.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/stages/order.hpp>

#include "cli/tool.hpp"
#include "messages/forged_hdf5.hpp"
#include "sources/hdf5/files.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
namespace fs = std::filesystem;

// What the tool is asked, and what its user reads of it, each on one line; "DIR" stands for the test's folder.
struct Said {
  std::vector<std::string> words;
  int status;
  std::vector<std::string> lines;
};

std::string in_folder(std::string text, const TempFolder& folder) {
  for (std::size_t at = 0; (at = text.find("DIR", at)) != std::string::npos;)
    text.replace(at, 3, folder.path().string());
  return text;
}

void check_said(const TempFolder& folder, const std::vector<Said>& table) {
  for (const Said& row : table) {
    std::vector<std::string> words;
    for (const std::string& word : row.words) words.push_back(in_folder(word, folder));
    const ToolResult result = tool(words);
    CAPTURE(words, result.out, result.err);
    CHECK(result.status == row.status);
    for (const std::string& line : row.lines) {
      CAPTURE(line);
      CHECK((result.out + result.err).find(in_folder(line, folder)) != std::string::npos);
    }
  }
}

std::string members(const std::vector<std::string>& names) {
  std::string tar;
  for (const std::string& name : names) tar += tar_member(name, name.ends_with(".cls") ? "1" : "data");
  return tar + tar_end;
}

std::vector<std::string> numbered_names(int count, const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    for (const std::string& ending : endings) names.push_back("k" + std::to_string(i) + ending);
  return names;
}

TEST_CASE("members of one sample that lie apart in a shard are named, with how to put them together") {
  const TempFolder folder;
  // As `tar cf x.tar *.jpg *.cls`; of more than the fields are told by, too.
  for (const int count : {3, 60, 300}) {
    std::vector<std::string> names = numbered_names(count, {".jpg"});
    for (const std::string& name : numbered_names(count, {".cls"})) names.push_back(name);
    folder.write("apart.tar", members(names));
    check_said(folder, {{{"inspect", "DIR/apart.tar"},
                         1,
                         {"unsupported: the members \"k0.jpg\" and \"k0.cls\" of one sample lie apart; members of one "
                          "sample must follow one another; make the shard of a folder by \"tar --sort=name -cf",
                          "file DIR/apart.tar"}}});
  }
  // As a locale sorts, where one key begins as another: "aj.cls" comes between "a.cls" and "a.jpg".
  folder.write("locale.tar", members({"a.cls", "aj.cls", "a.jpg", "aj.jpg", "b.cls", "b.jpg"}));
  check_said(folder, {{{"inspect", "DIR/locale.tar"}, 1, {"\"a.cls\" and \"a.jpg\" of one sample lie apart"}}});
  // As bytes sort.
  folder.write("bytes.tar",
               members({"a 1.cls", "a 1.jpg", "a-1.cls", "a-1.jpg", "a.cls", "a.jpg", "aj.cls", "aj.jpg"}));
  check_said(folder, {{{"inspect", "DIR/bytes.tar"}, 0, {"4 records of {label: i64[], image: u8[?]}"}}});
  // Few of many are bad samples.
  std::vector<std::string> names = numbered_names(50, {".jpg", ".cls"});
  names[3] = "z.jpg";
  names.push_back("k1.cls");
  folder.write("few.tar", members(names));
  check_said(folder, {{{"inspect", "DIR/few.tar"},
                       3,
                       {"the sample has no member with the extension cls beside its others, and one elsewhere in the "
                        "shard: members of one sample must follow one another"}},
                      {{"inspect", "DIR/few.tar", "--fields", "image"}, 3, {"52 records"}}});
}

TEST_CASE("where a file can't be mapped, the way without a map is said, and works") {
  const TempFolder folder;
  folder.write("a.tar", members(numbered_names(3, {".jpg", ".cls"})));
  folder.write("a.csv", "file,label\na,1\nb,2\n");
  const RawLmdb raw{folder / "a.lmdb"};
  raw.write({{"00000000", "value"}});
  ::setenv("PENSTOCK_TEST_NO_MAP", "1", 1);
  ::setenv("LD_PRELOAD", path_of("failing_read").c_str(), 1);
  for (const std::string command : {"inspect", "verify"})
    for (const std::string store : {"a.tar", "a.csv"}) {
      check_said(folder, {{{command, "DIR/" + store},
                           1,
                           {"io: mapping the file into memory: No such device: its file system has no maps; read it "
                            "without, by --access read (source",
                            "file DIR/" + store}}});
      const ToolResult read = tool({command, folder / store, "--access", "read"});
      CAPTURE(read.out, read.err);
      CHECK(read.err.empty());
      CHECK(read.out.find(store == "a.tar" ? "3 records" : "2 records") != std::string::npos);
    }
  check_said(folder, {{{"convert", "DIR/a.csv", "--out", "DIR/b.tar"}, 1, {"by --access read"}},
                      {{"convert", "DIR/a.tar", "--access", "read", "--out", "DIR/b.h5"}, 0, {}},
                      {{"bench", "DIR/a.csv"}, 1, {"by --access read"}},
                      {{"inspect", "DIR/a.lmdb", "--access", "read"},
                       1,
                       {"io: opening the store: the store's file system has no memory maps, which LMDB reads and "
                        "writes by; copy the store to another one"}}});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("PENSTOCK_TEST_NO_MAP");
}

TEST_CASE("a pattern in a folder that is missing is not found, and the folder is named") {
  const TempFolder folder;
  folder.write("there/x.txt", "x");
  const std::string missing = "there is no folder DIR/none";
  std::vector<Said> table;
  for (const std::string command : {"inspect", "verify", "bench"})
    for (const std::string pattern : {"x-*.tar", "x-{0..2}.tar", "x-*.h5", "x-{0,1}.h5", "*.svs", "x?.csv", "x.tar"})
      table.push_back({{command, "DIR/none/deep/" + pattern}, 1, {"not_found", missing}});
  table.push_back({{"convert", "DIR/none/*.tar", "--out", "DIR/o.h5"}, 1, {"not_found", missing}});
  table.push_back({{"merge", "DIR/none/*.tar", "--out", "DIR/o.json"}, 1, {"not_found", missing}});
  table.push_back({{"tile", "DIR/none/*.svs", "--out", "DIR/o.tar"}, 1, {"not_found", missing}});
  table.push_back({{"index", "DIR/none/*.svs", "--out", "DIR/o.idx"}, 1, {"not_found", missing}});
  table.push_back({{"inspect", "DIR/there/x.txt/*.tar"}, 1, {"not_found", "there is no folder DIR/there/x.txt"}});
  table.push_back({{"inspect", "DIR/there/*.tar"}, 1, {"not_found: no file has a name of this pattern (source"}});
  check_said(folder, table);
  const std::vector<std::function<void(const std::string&)>> sources{
      [](const std::string& path) { WebDatasetSource({.path = path + ".tar"}); },
      [](const std::string& path) { CsvSource({.path = path + ".csv"}); },
      [](const std::string& path) { JsonLinesSource({.path = path + ".jsonl"}); },
      [](const std::string& path) { SlideSource({.files = path + ".svs"}); },
  };
  for (const auto& open : sources) {
    const Error error = error_of([&] { open(folder / "none/deep/*"); });
    CAPTURE(error.what());
    CHECK(error.code() == Errc::not_found);
    CHECK(mentions(error, in_folder(missing, folder)));
  }
}

TEST_CASE("messages: words and lines that are not what a field says") {
  const TempFolder folder;
  folder.write("t.csv", "label\ncat\ncow\n");
  folder.write("t.jsonl", "{\"label\":\"cat\",\"n\":1}\n{\"label\":\"cow\",\"n\":1}\n{\"label\":\"cat\",\"n\":1.5}\n");
  const ClassNames pets{"cat", "dog"};
  const CsvSource table(
      {.path = folder / "t.csv", .columns = {{.column = "label", .type = CsvType::classes, .classes = pets}}});
  const JsonLinesSource lines({.path = folder / "t.jsonl",
                               .fields = {{.member = "label", .type = JsonType::classes, .classes = pets},
                                          {.member = "n", .dtype = DType::i64}}});
  const std::string csv = error_of([&] { read_sample(table, 1); }).what();
  CHECK(csv == in_folder("corrupt: line 3: column \"label\": \"cow\" is not one of its 2 classes: 0 cat, 1 dog (source "
                         "csv, file DIR/t.csv, key t.csv:3, index 1, offset 10)",
                         folder));
  const std::string json = error_of([&] { read_sample(lines, 1); }).what();
  CHECK(json ==
        in_folder("corrupt: line 2: member \"label\": \"cow\" is not one of its 2 classes: 0 cat, 1 dog (source "
                  "json, file DIR/t.jsonl, key t.jsonl:2, index 1, offset 31)",
                  folder));
  CHECK(mentions(error_of([&] { read_sample(lines, 2); }), "line 3: member \"n\": 1.5 is not a whole number"));
  const Error both = error_of([] { split({.shares = {1, 1}, .part = 0, .all_but = 1}); });
  CHECK(both.cause() == "`part` and `all_but` are both set; set the one that this pipeline needs");
}

TEST_CASE("tables with semicolons or tabs are read, and a delimiter that a table has not is told") {
  const TempFolder folder;
  fs::create_directory(folder / "slides");
  const std::string slide = write_slide(folder / "slides/a.svs", {.width = 130, .height = 130}).path;
  folder.write("semicolon.csv", "path;grade\nslides/a.svs;3\n");
  folder.write("tab.csv", "path\tgrade\nslides/a.svs\t3\n");
  folder.write("quoted.csv", "\"a;b\",c\nx,3\n");
  std::vector<Said> table;
  for (const std::string file : {"semicolon.csv", "tab.csv"}) {
    table.push_back({{"inspect", "DIR/" + file}, 0, {"1 record of {path: u8[?], grade: i64[]}"}});
    table.push_back({{"tile", "--list", "DIR/" + file, "--list-column", "path", "--out", "DIR/" + file + ".tar",
                      "--size", "64", "--labels", "DIR/" + file},
                     0,
                     {"4 tiles of 1 slide"}});
    table.push_back({{"inspect", "DIR/" + file + "-000000.tar"}, 0, {"grade"}});
  }
  table.push_back({{"inspect", "DIR/quoted.csv"}, 0, {"{a;b: u8[?], c: i64[]}"}});
  check_said(folder, table);
  for (const auto& [options, expected] : std::vector<std::pair<Csv, std::string>>{
           {{.path = folder / "semicolon.csv", .columns = {{.column = "grade"}}, .delimiter = ','},
            "the columns are path;grade; its first line has semicolons: say `delimiter = ';'`"},
           {{.path = folder / "tab.csv", .columns = {{.column = "1"}}, .delimiter = ';', .header = false},
            "its first line has tabs: say `delimiter = '\\t'`"},
           {{.path = folder / "quoted.csv", .columns = {{.column = "c"}}, .delimiter = '\t'}, ""}}) {
    const Error error = error_of([&options = options] { CsvSource source(options); });
    CAPTURE(error.what());
    CHECK(mentions(error, expected));
  }
}

void write_hdf5_table(const std::string& path, bool latest) {
  const H5Id access(H5Pcreate(H5P_FILE_ACCESS));
  if (latest) h5_must(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
  const H5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const std::vector<float> values(6, 1.0f);
  for (const auto& [name, rows] : std::vector<std::pair<const char*, hsize_t>>{{"good", 3}, {"odd", 3}}) {
    const H5Id space(H5Screate_simple(1, &rows, nullptr));
    const H5Id set(H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    h5_must(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
}

TEST_CASE("a dataset of a later HDF5 is left out, or refused, by its name") {
  const TempFolder folder;
  write_hdf5_table(folder / "t.h5", true);
  const std::string own = text_in(folder / "t.h5");
  struct Forgery {
    int type;
    std::size_t byte;
    unsigned char value;
    std::string said;
  };
  for (const auto& [type, byte, value, said] :
       std::vector<Forgery>{{-1, 4, 3, "bad object header version number"},
                            {0x01, 0, 3, "wrong version number in dataspace message"},
                            {0x03, 0, 0x5b, "bad version number for datatype message"},
                            {0x03, 0, 0x1b, ""},  // complex numbers, which have a class of their own
                            {0x05, 0, 4, "bad version number for fill value message"},
                            {0x08, 0, 5, "bad version number for layout message"},
                            {0x08, 1, 9, "Invalid layout class"}}) {
    std::string forged = own;
    forge(forged, 2, type, byte, value);
    folder.write("t.h5", forged);
    CAPTURE(said);
    const std::string why = "it is of a later HDF5 than the library here";
    check_said(
        folder,
        {{{"inspect", "DIR/t.h5"},
          0,
          {"3 records of {good: f32[]}", "odd: left out, because it can't be read: " + why, said}},
         {{"inspect", "DIR/t.h5", "--isolate"}, 0, {"3 records of {good: f32[]}", why, said}},
         {{"inspect", "DIR/t.h5", "--fields", "odd"}, 1, {"unsupported: dataset 'odd': " + why, said, "file DIR/t.h5"}},
         {{"verify", "DIR/t.h5"}, 0, {"3 records read", "left out: the field odd", why}}});
    forge(forged, 1, 0x08, 0, 5);
    folder.write("t.h5", forged);
    check_said(folder, {{{"inspect", "DIR/t.h5"}, 1, {"unsupported: dataset 'good': " + why}}});
  }
}

TEST_CASE("the tool's messages name the tool's options") {
  const TempFolder folder;
  write_hdf5_table(folder / "t.h5", false);
  {
    const H5Id file(H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const hsize_t rows = 5;
    const H5Id space(H5Screate_simple(1, &rows, nullptr));
    const H5Id other(H5Dcreate2(file, "other", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  folder.write("unnamed.csv", "a,,c\n1,2,3\n");
  folder.write("missing.csv", "a,b\n1,2\n,3\n");
  folder.write("odd.tar", members({"a.x1", "b.x2", "c.x3"}));
  fs::create_directory(folder / "slides");
  write_slide(folder / "slides/a.svs", {.width = 130, .height = 130});
  write_slide(folder / "slides/b.svs", {.width = 130, .height = 130, .seed = 1});
  folder.write("two.csv", "one,other\na,b\nb,a\n");
  folder.write("numbers.csv", "slide;age\na;1,5\nb;2,5\n");
  check_said(
      folder,
      {{{"inspect", "DIR/t.h5"}, 1, {"; name in --fields those that belong together"}},
       {{"inspect", "DIR/unnamed.csv"}, 1, {"has no name; list the --fields you want"}},
       {{"convert", "DIR/missing.csv", "--out", "DIR/o.tar"},
        1,
        {"`missing_value` (of the library; this command has no option for it) would stand for it"}},
       {{"inspect", "DIR/odd.tar"},
        1,
        {"say in `fields` which of these become what (of the library; this command has no option for it): x1, x2, x3"}},
       {{"tile", "DIR/slides", "--labels", "DIR/two.csv", "--out", "DIR/t.tar"},
        1,
        {"both name slides, and not the same ones; say which one is meant in --slide-column"}},
       {{"tile", "DIR/slides", "--labels", "DIR/numbers.csv", "--out", "DIR/t.tar"},
        1,
        {"or name the columns that you need in --columns"}},
       {{"tile", "DIR/slides", "--mpp", "0.5", "--out", "DIR/o.tar", "--dry-run"},
        3,
        {"say it in a column of --labels that --mpp-column names, or in --assume-mpp"}},
       {{"inspect", "DIR/slides", "--labels", "DIR/two.csv"}, 1, {"say which one is meant in --slide-column"}}});
  // As programs read it.
  const Error error = error_of([&] { CsvSource source({.path = folder / "unnamed.csv"}); });
  CHECK(mentions(error, "list the `columns` you want"));
}

TEST_CASE("names of classes with commas are told apart wherever commas stand between them") {
  CHECK(ClassNames({"a,b", "c"}).to_string() == "2 classes: 0 \"a,b\", 1 c");
  CHECK(ClassNames({"a", "b,c\"d"}).to_string() == "2 classes: 0 a, 1 \"b,c\"\"d\"");
  const TempFolder folder;
  for (const std::string name : {"a,b", "c"}) folder.write("photos/" + name + "/1.jpg", jpeg(1));
  fs::create_directory(folder / "photos/d,e");
  folder.write("t.csv", "\"x,y\",z\n1,2\n");
  fs::create_directories(folder / "regions");
  fs::create_directory(folder / "slides");
  write_slide(folder / "slides/a.svs", {.width = 130, .height = 130});
  folder.write("regions/a.geojson",
               R"({"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[64,0],[64,64],[0,64],[0,0]]]},)"
               R"("properties":{"classification":{"name":"a,b"}}})");
  folder.write("tile.toml", "regions = \"" + (folder / "regions") + "\"\ninclude = [\"a,b\"]\nsize = 64\n");
  const auto tiles = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"tile", "DIR/slides", "--out", "DIR/o.tar", "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::string> of_regions{"--regions", "DIR/regions", "--size", "64"};
  const auto including = [&](const std::string& names) {
    std::vector<std::string> more = of_regions;
    more.push_back("--include=" + names);
    return tiles(more);
  };
  check_said(
      folder,
      {{{"inspect", "DIR/photos"}, 0, {"a,b", "1 class without a file: \"d,e\""}},
       {{"inspect", "DIR/t.csv", "--fields", "\"x,y\""}, 0, {"{x,y: i64[]}"}},
       {{"inspect", "DIR/t.csv", "--fields", "x,y"}, 1, {"there is no column \"x\"; the columns are \"x,y\", z"}},
       {including("\"a,b\""), 0, {"1 tile"}},
       {including("a,\"a,b\""), 1, {"no slide has a region of the class \"a\"; there are: \"a,b\""}},
       {including("\"a,b"), 2, {"--include: a quote is never closed"}},
       {including("a,,b"), 2, {"--include: a name is empty"}},
       {tiles({"--settings", "DIR/tile.toml"}), 0, {"1 tile"}}});
}

TEST_CASE("names are shown as they are, where they are UTF-8, and their controls and other bytes are not") {
  const std::string composed = "\u00e4", apart = "a\u0308", wide = "\u5b57\U0001f52c";
  for (const std::string& name : {composed, apart, wide}) {
    CHECK(printable(name) == name);
    CHECK(without_controls(name) == name);
  }
  for (const auto& [name, shown] : std::vector<std::pair<std::string, std::string>>{
           {"K\xf6ln", "K\\xf6ln"},
           {"a\tb\x7f", "a\\x09b\\x7f"},
           {"\u0085\u202e", "\\xc2\\x85\\xe2\\x80\\xae"},
           {"\xc0\xaf", "\\xc0\\xaf"},                    // longer than need be
           {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // half of a pair
           {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond the last one
           {"\xe4\xbd", "\\xe4\\xbd"}}) {                 // cut off
    CHECK(printable(name) == shown);
    CHECK(without_controls(name) == shown);
  }
  CHECK(printable("\u00e4\u00e4\u00e4\u00e4", 3) == "\u00e4\u00e4...");
  CHECK(ClassNames({composed}).to_string() == "1 class: 0 " + composed);
  const std::vector<JobFact> there{{"key", escaped(composed + "\\")}}, here{{"key", "b"}};
  CHECK(job_difference(there, here) == "key: there \"" + composed + "\\\", here \"b\"");

  const TempFolder folder;
  for (const std::string& name : {composed, apart, std::string("K\xf6ln")}) {
    folder.write(name + ".csv", name + "," + name + "\n1,2\n");
    folder.write(name + ".tar", members({"../" + name + ".jpg"}));
    const std::string shown = name == "K\xf6ln" ? "K\\xf6ln" : name;
    check_said(folder, {{{"inspect", "DIR/" + name + ".csv"},
                         1,
                         {"two columns are called \"" + shown + "\"", "file DIR/" + shown + ".csv"}},
                        {{"inspect", "DIR/" + name + ".tar"}, 3, {"leads out of the folder", "key ../" + shown}},
                        {{"inspect", "DIR/" + name + ".h5"}, 1, {"file DIR/" + shown + ".h5"}}});
  }
}

}  // namespace PENSTOCK_TEST_FILE
