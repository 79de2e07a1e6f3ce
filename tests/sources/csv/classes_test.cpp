// SPDX-License-Identifier: Apache-2.0
// Columns of words that become numbers of classes.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/classes.hpp>
#include <penstock/join.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Numbers = std::vector<std::int64_t>;

std::string write(const TempFolder& folder, std::string_view name, std::string_view content) {
  folder.write(name, content);
  return folder / name;
}

CsvColumn classes_of(std::string column, ClassNames classes = {}) {
  return {.column = std::move(column), .type = CsvType::classes, .classes = std::move(classes)};
}

Numbers labels_in(const AnySource& source, const std::string& field = "label") { return labels_of(source, field); }

Error refused(const Csv& options) {
  return error_of([&] { CsvSource source(options); });
}

}  // namespace

TEST_CASE("words of a column are classes in the order of their bytes") {
  const TempFolder folder;
  // A byte order mark, both ends of lines, quotes, doubled quotes, spaces around words and inside of them.
  const std::string path = write(folder, "t.csv",
                                 "\xef\xbb\xbfx,label\r\n1,dog\r\n2,\"cat\"\n3, Zebra \n4,\"a \"\"big\"\" dog\"\n5,"
                                 "\xc3\xa4sch\xc3\xa4\r\n6,\t\" cat \"\n7,dog");
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    // A quote that follows a tab is text, as everywhere in this reader, so the sixth word has quotes.
    const CsvSource source({.path = path, .columns = {classes_of("label"), {.column = "x"}}, .access = access});
    CHECK(source.schema().to_string().find("label: i64[]") != std::string::npos);
    const ClassNames classes = source.schema().at("label").classes;
    CHECK(classes.names() ==
          std::vector<std::string>{"\" cat \"", "Zebra", "a \"big\" dog", "cat", "dog", "\xc3\xa4sch\xc3\xa4"});
    CHECK(labels_in(share(source)) == Numbers{4, 3, 1, 2, 5, 0, 4});
  }
}

TEST_CASE("listed classes number the words, and another word is a bad sample") {
  const TempFolder folder;
  const std::string path = write(folder, "t.csv", "label\ndog\ncat\ncow\n");
  const CsvSource source({.path = path, .columns = {classes_of("label", {"dog", "ant", "cat"})}});
  CHECK(source.schema().at("label").classes == ClassNames{"dog", "ant", "cat"});
  CHECK(read_label(source, 0) == 0);
  CHECK(read_label(source, 1) == 2);
  const Error error = error_of([&] { read_label(source, 2); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.cause() == "line 4: column \"label\": \"cow\" is not one of its 3 classes: 0 dog, 1 ant, 2 cat");
  CHECK(error.file() == path);
  CHECK(error.key() == "t.csv:4");
  CHECK(error.index() == 2);
  CHECK(error.offset() == 14);
}

TEST_CASE("missing words are no classes unless they are listed") {
  const TempFolder folder;
  const std::string path = write(folder, "t.csv", "x,label\n1,cat\n2,\n3, NA\n4,ant\n");
  const CsvSource found({.path = path, .columns = {classes_of("label")}, .missing_value = 7});
  CHECK(found.schema().at("label").classes == ClassNames{"ant", "cat"});
  CHECK(read_label(found, 3) == 0);
  for (const std::uint64_t missing : {1u, 2u}) {
    const Error error = error_of([&] { read_label(found, missing); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.cause().find("column \"label\": is missing: the cell is \"") != std::string::npos);
  }
  const CsvSource listed({.path = path, .columns = {classes_of("label", {"ant", "cat", "NA", ""})}});
  CHECK(labels_in(share(listed)) == Numbers{1, 3, 2, 0});
}

TEST_CASE("classes are those of all files, and a column may be text, too") {
  const TempFolder folder;
  write(folder, "1.csv", "label,x\nb,1\nc,2\n");
  write(folder, "2.csv", "x;label\n3;a\n4;c\n");
  const CsvSource source({.path = folder / "*.csv",
                          .columns = {classes_of("label"),
                                      {.column = "label", .field = "word"},
                                      {.column = "x"},
                                      {.column = "x", .field = "again"}}});
  CHECK(source.schema().at("label").classes == ClassNames{"a", "b", "c"});
  CHECK(labels_in(share(source)) == Numbers{1, 2, 0, 2});
  CHECK(read_text(source, 2, "word") == "a");
  CHECK(source.schema().at("x").dtype == DType::i64);
  CHECK(source.schema().at("again").dtype == DType::i64);
}

TEST_CASE("joins match the classes of tables by name") {
  const TempFolder folder;
  const auto part = [&](std::string_view name, std::string_view text) {
    return share(CsvSource({.path = write(folder, name, text), .columns = {classes_of("label")}}));
  };
  const AnySource a = part("a.csv", "label\ndog\ncat\n"), b = part("b.csv", "label\nant\ndog\n");
  CHECK(labels_in(a) == Numbers{1, 0});
  CHECK(labels_in(b) == Numbers{0, 1});
  const Pipeline both = from(concat(a, b));
  const ClassNames classes = both.schema().at("label").classes;
  std::vector<std::string> words;
  for (const std::int64_t number : labels_in(concat(a, b))) words.push_back(classes[static_cast<std::size_t>(number)]);
  CHECK(words == std::vector<std::string>{"dog", "cat", "ant", "dog"});
  CHECK(labels_in(map_classes(b, "label", {"cat", "dog", "ant"})) == Numbers{2, 1});
  CHECK((from(a) | draw_balanced("label", {.count = 4})).size() == 4);
}

TEST_CASE("the identity of a table includes what its words mean") {
  const TempFolder folder;
  const std::string path = write(folder, "t.csv", "label\ncat\ndog\n");
  const auto identity = [&](CsvColumn column) {
    return CsvSource({.path = path, .columns = {std::move(column)}}).identity();
  };
  const std::uint64_t found = identity(classes_of("label"));
  CHECK(found == identity(classes_of("label", {"cat", "dog"})));
  CHECK(found != identity(classes_of("label", {"dog", "cat"})));
  CHECK(found != identity(classes_of("label", {"cat", "dog", "emu"})));
  CHECK(found != identity({.column = "label", .type = CsvType::text}));
}

TEST_CASE("columns that can't be classes are refused with the reason") {
  const TempFolder folder;
  const std::string few = write(folder, "few.csv", "label,n\ncat,1\ndog,2\nemu,3\ndog,4\n");
  const auto check = [](const Csv& options, Errc code, const std::string& cause) {
    const Error error = refused(options);
    CHECK(error.code() == code);
    CHECK(error.cause() == cause);
  };
  check({.path = few, .columns = {classes_of("label")}, .max_classes = 2}, Errc::limit_exceeded,
        "line 4: column \"label\" has more than 2 different words (`max_classes`); read it as text, or list its "
        "`classes`");
  CHECK(CsvSource({.path = few, .columns = {classes_of("label")}, .max_classes = 3}).size() == 4);
  // With a list nothing is counted.
  CHECK(CsvSource({.path = few, .columns = {classes_of("label", {"a", "b", "c"})}, .max_classes = 1}).size() == 4);
  for (const std::size_t lines : {100u, 101u}) {
    std::string ids = "id\n";
    for (std::size_t i = 0; i < lines; ++i) ids += "id-" + std::to_string(i) + "\n";
    const Csv options{.path = write(folder, "ids.csv", ids), .columns = {classes_of("id")}};
    if (lines == 100)
      CHECK(CsvSource(options).schema().at("id").classes.size() == 100);
    else
      check(options, Errc::invalid_argument,
            "column \"id\" has 101 words, which all differ, so they do not name classes; read it as text, or list its "
            "`classes`");
  }
  check({.path = write(folder, "empty.csv", "label\n\"\"\nNA\n"), .columns = {classes_of("label")}},
        Errc::invalid_argument, "column \"label\" has no word that could be a class; list its `classes`");
  check({.path = write(folder, "none.csv", "label\n"), .columns = {classes_of("label")}}, Errc::invalid_argument,
        "there is no record to tell types by; say the `columns`, their types, and the `classes` of words");
  CHECK(CsvSource({.path = folder / "none.csv", .columns = {classes_of("label", {"a"})}}).size() == 0);
  check({.path = few, .columns = {classes_of("label", {"cat", "dog", "cat"})}}, Errc::invalid_argument,
        "column \"label\": two classes have the name \"cat\", so a word has no number");
  check({.path = few, .columns = {classes_of("label", {"cat", " dog"})}}, Errc::invalid_argument,
        "column \"label\": the class \" dog\" has spaces around it, which are not part of the words of a column");
  check({.path = few, .columns = {{.column = "label", .type = CsvType::text, .classes = {"cat"}}}},
        Errc::invalid_argument, "column \"label\" has `classes`, but its type is not `classes`");
  // The file and the line of a column of too many bytes.
  std::string large = "label\n";
  for (char c = 'a'; c < 'a' + 9; ++c) large += std::string(std::size_t{8} << 20, c) + "\n";
  check({.path = write(folder, "large.csv", large), .columns = {classes_of("label")}}, Errc::limit_exceeded,
        "line 10: column \"label\" has more than 64 MiB of different words; read it as text, or list its `classes`");
}

}  // namespace PENSTOCK_TEST_FILE
