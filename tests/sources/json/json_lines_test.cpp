// SPDX-License-Identifier: Apache-2.0
// Files with one JSON object per line: lines, keys, fields that are found, classes, and what is refused of files.
#include <penstock/sources/json_lines.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <penstock/join.hpp>
#include <penstock/penstock.hpp>

#include "sources/json/json_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<std::int64_t> whole_numbers(const JsonLinesSource& source, const std::string& field) {
  std::vector<std::int64_t> out;
  for (std::uint64_t i = 0; i < source.size(); ++i)
    out.push_back(values_of<std::int64_t>(read_sample(source, i)[field]).at(0));
  return out;
}

std::string schema_of(const std::string& text) { return JsonFile(text).open().schema().to_string(); }

}  // namespace

TEST_CASE("lines of JSON end as they may, and empty ones are skipped") {
  const JsonFile file("\xef\xbb\xbf\n{\"x\":1}\r\n \t\r\n\n{\"x\":2}\n{\"x\" :3}\r\n  {\"x\":4}\n\n\n{\"x\":5}");
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const JsonLinesSource source({.path = file.path(), .fields = {number("x", DType::i64)}, .access = access});
    CHECK(whole_numbers(source, "x") == std::vector<std::int64_t>{1, 2, 3, 4, 5});
    CHECK(source.key(0) == "t.jsonl:00000002");
    CHECK(source.key(4) == "t.jsonl:00000010");
    CHECK(source.block_ends().empty());
    CHECK(error_of([&] { read_sample(source, 5); }).code() == Errc::not_found);
    CHECK(error_of([&] { source.key(~std::uint64_t{0}); }).code() == Errc::not_found);
  }
}

TEST_CASE("files of a pattern are read one after the other, and each is a block") {
  const TempFolder folder;
  folder.write("a.jsonl", "{\"x\":1}\n{\"x\":2}\n");
  folder.write("b.jsonl", "");
  folder.write("c.jsonl", "{\"x\":3}");
  const JsonLinesSource source({.path = folder / "*.jsonl"});
  CHECK(whole_numbers(source, "x") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(source.block_ends() == std::vector<std::uint64_t>{2, 2, 3});
  CHECK(source.key(2) == "c.jsonl:00000001");
  CHECK(source.file() == folder / "*.jsonl");
  const Pipeline shuffled = from(source) | shuffle({.blocks = true, .window_blocks = 2});
  CHECK(shuffled.size() == 3);
}

TEST_CASE("fields are found in the first records") {
  CHECK(schema_of("{\"a\":1,\"b\":2.5,\"c\":true,\"d\":\"t\",\"e\":{\"f\":18446744073709551615,\"g\":[1,2]}}\n") ==
        "{a: i64[], b: f64[], c: u8[], d: u8[?], e.f: u64[], e.g: i64[2]}");
  CHECK(schema_of("{\"a\":1}\n{\"a\":2.5}\n{\"a\":null}\n{\"b\":[]}\n{\"b\":[1]}\n{\"a\":0,\"b\":[true]}\n{\"a\":7}") ==
        "{a: f64[]}");
  CHECK(schema_of("{\"a\":[[1,2],[3,4]],\"b\":[1]}\n{\"a\":[[1,2]],\"b\":[]}\n") == "{a: i64[?, 2], b: i64[?]}");
  CHECK(schema_of("{\"a\":[[[1]],[[2.5]]],\"b\":[[],[]],\"c\":[true,false]}\n{\"b\":[[1,2,3]]}\n{\"a\":[[[1]],[[2]]],"
                  "\"b\":[[1,2,3]],\"c\":[true,true]}\n") == "{a: f64[2, 1, 1], b: i64[?, ?], c: u8[2]}");
  const JsonFile file(
      "not json\n{\"a\":1,\"b\":{},\"tags\":[\"x\"],\"mixed\":1,\"deep\":[[[[1]]]],\"rare\":1,\"o\":[{}],\"e\":[]}\n"
      "{\"a\":2,\"tags\":[\"y\"],\"mixed\":\"t\",\"deep\":[[[[1]]]],\"o\":[{}],\"e\":[]}\n{\"a\":true}\n{\"a\":3,"
      "\"tags\":[],\"mixed\":[1],\"deep\":[],\"o\":[],\"e\":[],\"z\":1}\n{\"z\":1}\n{\"z\":1}\n{\"z\":1}\n");
  const JsonLinesSource source({.path = file.path(), .key = "k"});
  CHECK(source.schema().to_string() == "{z: i64[]}");
  CHECK(source.size() == 8);
  std::string notes;
  for (const std::string& note : source.notes()) notes += note + "\n";
  INFO(notes);
  CHECK(notes.find("member \"a\" is not read: it has booleans and numbers") != std::string::npos);
  CHECK(notes.find("member \"rare\" is not read: it has a value in only 1 of the first 7 records") !=
        std::string::npos);
  // The key is not a field, and a number that stands for missing ones must fit.
  const JsonFile keyed("{\"k\":\"a\",\"x\":1}\n{\"k\":\"b\",\"x\":null}\n{\"k\":\"c\",\"x\":2}");
  CHECK(JsonLinesSource({.path = keyed.path(), .key = "k"}).schema().to_string() == "{x: i64[]}");
  CHECK(JsonLinesSource({.path = keyed.path(), .key = "k", .missing_value = 0.5}).schema().to_string() == "{x: f64[]}");
  const JsonFile reasons(
      "{\"a\":[\"x\"],\"b\":[{}],\"c\":[[[[1]]]],\"d\":1,\"e\":[1],\"f\":[[1],[1,2]],\"g\":[],\"h\":1e400,\"i\":[1,[2]]"
      ","
      "\"ok\":1}\n{\"a\":[\"x\"],\"b\":[{}],\"c\":[[[[1]]]],\"d\":\"t\",\"e\":2,\"f\":[],\"g\":[],\"h\":1,\"i\":[1],"
      "\"ok\":2}");
  const JsonLinesSource seen = reasons.open();
  CHECK(seen.schema().to_string() == "{ok: i64[]}");
  notes.clear();
  for (const std::string& note : seen.notes()) notes += note + "\n";
  CHECK(notes ==
        "member \"a\" is not read: it has a text in an array\n"
        "member \"b\" is not read: it has an object in an array\n"
        "member \"c\" is not read: it has arrays of more than 3 dimensions\n"
        "member \"d\" is not read: it has texts and other values\n"
        "member \"e\" is not read: it has arrays and other values\n"
        "member \"f\" is not read: it has arrays of different lengths in one array, 1 and 2\n"
        "member \"g\" is not read: it has only empty arrays\n"
        "member \"h\" is not read: it has numbers that neither 64 bits nor f64 hold exactly\n"
        "member \"i\" is not read: it has an array in an array\n");
}

TEST_CASE("fields that are set are what they say, and the fields that were found open the same") {
  const JsonFile file("{\"a\":1,\"s\":\"t\"}\n{\"a\":2,\"s\":\"u\"}\n");
  const JsonLinesSource found = file.open();
  const JsonLinesSource set = file.open(found.fields());
  CHECK(set.schema() == found.schema());
  CHECK(set.identity() == found.identity());
  const JsonLinesSource twice =
      file.open({{.member = "s", .type = JsonType::text, .field = "word"}, classes("s"), number("a", DType::u8)});
  CHECK(twice.schema().to_string().find("word: u8[?]") != std::string::npos);
  CHECK(read_text(twice, 1, "word") == "u");
  CHECK(whole_numbers(twice, "s") == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("strings are classes in the order of their bytes, or those of a list, and joins match them") {
  const TempFolder folder;
  folder.write("a.jsonl", "{\"label\":\"dog\"}\n{\"label\":\"c\\u0061t\"}\n{\"label\":null}\n{\"label\":7}\n broken\n");
  folder.write("b.jsonl", "{\"label\":\"ant\"}\n{\"label\":\"dog\"}\n");
  const JsonLinesSource all({.path = folder / "*.jsonl", .fields = {classes("label")}});
  CHECK(all.schema().at("label").classes == ClassNames{"ant", "cat", "dog"});
  const auto label = [&](std::uint64_t record) { return read_label(all, record); };
  CHECK(label(0) == 2);
  CHECK(label(1) == 1);
  CHECK(label(5) == 0);
  CHECK(error_of([&] { label(2); }).cause() == "line 3: member \"label\": is missing: it is null");
  CHECK(error_of([&] { label(3); }).cause() == "line 4: member \"label\": is a number, not a text");
  const JsonLinesSource listed({.path = folder / "b.jsonl", .fields = {classes("label", {"dog", "bee"})}});
  CHECK(read_label(listed, 1) == 0);
  CHECK(error_of([&] { read_label(listed, 0); }).cause() ==
        "line 1: member \"label\": \"ant\" is not one of its 2 classes: 0 dog, 1 bee");
  CHECK(listed.identity() !=
        JsonLinesSource({.path = folder / "b.jsonl", .fields = {classes("label", {"bee", "dog"})}}).identity());
  folder.write("c.jsonl", "{\"label\":\"dog\"}\n{\"label\":\"cat\"}\n");
  const auto part = [&](const char* name) {
    return share(JsonLinesSource({.path = folder / name, .fields = {classes("label")}}));
  };
  const AnySource joined = concat(part("b.jsonl"), part("c.jsonl"));
  const Pipeline both = from(joined);
  const ClassNames names = both.schema().at("label").classes;
  std::string words;
  for (const std::int64_t number : labels_of(joined, "label")) words += names[static_cast<std::size_t>(number)] + " ";
  CHECK(words == "ant dog dog cat ");
}

TEST_CASE("a member has the keys") {
  const JsonFile file(
      "{\"id\":\"a/1\",\"x\":1}\n{\"x\":1,\"id\":18446744073709551616}\n{\"id\":\"\\u00e4\"}\n{\"x\":1}\n"
      "{\"id\":1.5}\n{\"id\":null}\n{\"id\":\"\\ud800\"}\n{\"id\":\"a\",\"id\":\"b\"}\n");
  const JsonLinesSource source({.path = file.path(), .key = "id", .fields = {number("x", DType::i64)}});
  CHECK(source.key(0) == "a/1");
  CHECK(source.key(1) == "18446744073709551616");
  CHECK(source.key(2) == "\xc3\xa4");
  const auto cause = [&](std::uint64_t record) { return std::string(error_of([&] { source.key(record); }).cause()); };
  const std::string member = "member \"id\", which has the keys, ";
  CHECK(cause(3) == "line 4: " + member + "is not there");
  CHECK(cause(4) == "line 5: " + member + "is 1.5, not a whole number");
  CHECK(cause(5) == "line 6: " + member + "is null, not a text or a whole number");
  CHECK(cause(6) ==
        "line 7: " + member + "has a text that is not UTF-8: \\ud800 is half of a character, without the other half");
  CHECK(cause(7) == "line 8: member \"id\" comes twice in its object");
  const JsonFile patients("{\"id\":\"p1/1\",\"x\":1}\n{\"id\":\"p2/1\",\"x\":1}\n{\"id\":\"p1/2\",\"x\":1}\n");
  const Pipeline one = from(JsonLines{.path = patients.path(), .key = "id"});
  std::uint64_t all = 0;
  for (std::uint64_t part = 0; part < 2; ++part) try {
      all += (one | split({.shares = {1, 1}, .part = part, .by = SplitOptions::By::group})).size();
    } catch (const Error&) {
    }
  CHECK(all == 3);
}

TEST_CASE("files that can't be read as lines of JSON are refused with the reason") {
  const TempFolder folder;
  const auto refused = [&](const JsonLines& options) { return error_of([&] { JsonLinesSource source(options); }); };
  const auto with = [&](std::string_view content, JsonLines options = {}) {
    folder.write("t.jsonl", content);
    options.path = folder / "t.jsonl";
    return refused(options);
  };
  CHECK(refused({.path = folder / "none.jsonl"}).code() == Errc::not_found);
  CHECK(refused({.path = folder / "none-*.jsonl"}).code() == Errc::not_found);
  std::filesystem::create_directory(folder / "d.jsonl");
  CHECK(refused({.path = folder / "d.jsonl"}).cause().find("not a regular file") != std::string::npos);
  CHECK(with("").cause() == "there is no record to find fields in; list the `fields`");
  CHECK(with("\n \n").code() == Errc::invalid_argument);
  CHECK(JsonLinesSource({.path = folder / "t.jsonl", .fields = {number("x", DType::f32)}}).size() == 0);
  CHECK(with(std::string_view("\xff\xfe{\0}\0", 6)).code() == Errc::unsupported);
  const Error printed = with("{\n  \"x\": 1\n}\n");
  CHECK(printed.code() == Errc::corrupt);
  CHECK(printed.cause() ==
        "line 1: it is not JSON: the line ends inside an object; each line must be one whole object");
  const Error whole = with("[{\"x\":1},\n{\"x\":2}]\n");
  CHECK(whole.cause().find("line 1: ") == 0);
  CHECK(with("{}\n{}\n").cause() == "none of the first records has a member that can be a field; list the `fields`");
  const Error longer =
      with("{\"x\":1}\n{\"x\":\"" + std::string(100, 'a') + "\"}\n", {.path = {}, .max_record_bytes = 50});
  CHECK(longer.code() == Errc::limit_exceeded);
  CHECK(longer.cause() == "line 2 is longer than `max_record_bytes` = 50; does the file have one object per line?");
  CHECK(longer.offset() == 8);
  const std::string one = "{\"x\":1,\"y\":{\"z\":1},\"s\":\"a\"}\n";
  const auto field = [&](JsonField f, JsonLines options = {}) {
    options.fields = {std::move(f)};
    const Error error = with(one, options);
    CHECK(error.code() == Errc::invalid_argument);
    return std::string(error.cause());
  };
  CHECK(field(number("x", DType::f16)) == "member \"x\": f16 is not made from text; read f32, and cast it");
  CHECK(field(number("x", DType::u8, {0})) == "member \"x\" has a shape with a dimension of 0");
  CHECK(field(number("x", DType::u8, {1, 1, 1, 1})) == "member \"x\" has a shape of more than 3 dimensions");
  CHECK(field({.member = "s", .type = JsonType::text, .shape = {2}}) ==
        "member \"s\" has a `shape`, but its type is not `number`");
  CHECK(field({.member = "s", .type = JsonType::text, .classes = {"a"}}) ==
        "member \"s\" has `classes`, but its type is not `classes`");
  CHECK(field(classes("s", {"a", "a"})) == "member \"s\": two classes have the name \"a\", so a text has no number");
  CHECK(field(classes("x")) == "member \"x\" has no word that could be a class; list its `classes`");
  CHECK(field(number("x", DType::u8), {.path = {}, .missing_value = 0.5}) ==
        "`missing_value` can't be a value of member \"x\", which is u8");
  CHECK(with(one, {.path = {}, .fields = {number("y", DType::u8), number("y.z", DType::u8)}}).cause() ==
        "member \"y\" is a field, so \"y.z\" can't be a member of it");
  CHECK(with(one, {.path = {}, .fields = {number("x", DType::u8), number("x", DType::u8)}}).code() ==
        Errc::invalid_argument);
  const Error many = with("{\"s\":\"a\"}\n{\"s\":\"b\"}\n", {.path = {}, .fields = {classes("s")}, .max_classes = 1});
  CHECK(many.code() == Errc::limit_exceeded);
  CHECK(many.cause().find("line 2: member \"s\" has more than 1 different words (`max_classes`)") == 0);
  std::string members = "{\"x\":1";
  for (int i = 0; i < 10'001; ++i) members += ",\"m" + std::to_string(i) + "\":0";
  CHECK(with(members + "}").code() == Errc::limit_exceeded);
  // Long names are not fields, and are told.
  folder.write("t.jsonl", "{\"x\":1,\"" + std::string(300, 'n') + "\":1}");
  CHECK(JsonLinesSource({.path = folder / "t.jsonl"}).notes().size() == 1);
}

TEST_CASE("a line of 200 MB is read if it may be") {
  const TempFolder folder;
  {
    std::string line = "{\"n\":7,\"s\":\"";
    line.append(std::size_t{200} << 20, 'a');
    line += "\"}\n{\"n\":8,\"s\":\"b\"}\n";
    folder.write("t.jsonl", line);
  }
  const JsonLinesSource source(
      {.path = folder / "t.jsonl", .fields = {number("n", DType::i64)}, .max_record_bytes = std::size_t{1} << 30});
  CHECK(whole_numbers(source, "n") == std::vector<std::int64_t>{7, 8});
  CHECK(error_of([&] { JsonLinesSource s({.path = folder / "t.jsonl"}); }).code() == Errc::limit_exceeded);
}

TEST_CASE("blank lines after a record take no memory") {
  const TempFolder folder;
  folder.write("t.jsonl", "{\"n\":7}\n" + std::string(std::size_t{64} << 20, '\n') + "{\"n\":8}\n\n");
  const auto resident_mib = [] {
    std::uint64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * 4096 >> 20;
  };
  for (const std::size_t limit : {std::size_t{7}, std::size_t{1} << 20, ~std::size_t{0}}) {
    const JsonLinesSource source({.path = folder / "t.jsonl",
                                  .fields = {number("n", DType::i64)},
                                  .max_record_bytes = limit,
                                  .access = FileAccess::read});
    OwnedSample sample(source.schema());
    SampleBuilder out = sample.builder();
    const auto reader = source.open_reader();
    const std::uint64_t before = resident_mib();
    reader->read(0, out);
    if (limit != ~std::size_t{0}) CHECK(resident_mib() < before + 32);
    CHECK(values_of<std::int64_t>(sample["n"]).at(0) == 7);
    CHECK(whole_numbers(source, "n") == std::vector<std::int64_t>{7, 8});
    CHECK(JsonLinesSource({.path = folder / "t.jsonl", .max_record_bytes = limit}).schema().to_string() ==
          "{n: i64[]}");
  }
}

TEST_CASE("a file that is replaced or cut short after it was opened is an error") {
  const TempFolder folder;
  const std::string path = folder / "t.jsonl";
  folder.write("t.jsonl", "{\"x\":1}\n{\"x\":2}\n");
  const JsonLinesSource source({.path = path, .access = FileAccess::read});
  // Of the same size, under the same name.
  folder.write("new.jsonl", "{\"x\":3}\n{\"x\":4}\n");
  std::filesystem::rename(path, folder / "old.jsonl");
  std::filesystem::rename(folder / "new.jsonl", path);
  const Error replaced = error_of([&] { read_sample(source, 1); });
  CHECK(replaced.code() == Errc::io);
  CHECK(replaced.cause() == "line 2: the file was changed or replaced since it was opened; open it again");
  std::filesystem::rename(folder / "old.jsonl", path);
  CHECK(whole_numbers(source, "x") == std::vector<std::int64_t>{1, 2});
  std::filesystem::resize_file(path, 9);
  CHECK(error_of([&] { read_sample(source, 1); }).code() == Errc::io);
  std::filesystem::remove(path);
  CHECK(error_of([&] { read_sample(source, 0); }).code() == Errc::not_found);
  const JsonFile other("{\"x\":1}\n{\"x\":2}\n");
  const std::uint64_t revision = source.revision();
  CHECK(other.open().identity() == source.identity());
  CHECK(other.open().revision() != revision);
}

}  // namespace PENSTOCK_TEST_FILE
