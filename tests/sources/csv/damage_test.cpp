// SPDX-License-Identifier: Apache-2.0
// Tables that are damaged, hostile, or changed while they are open.
#include <filesystem>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Error opening(const TempFolder& folder, std::string_view content, Csv options = {}) {
  folder.write("t.csv", content);
  options.path = folder / "t.csv";
  Error error = error_of([&] { CsvSource{options}; });
  CHECK(mentions(error, "csv"));
  CHECK(mentions(error, "t.csv"));
  return error;
}

}  // namespace

TEST_CASE("quotes that are wrong are found when a table is opened") {
  const TempFolder folder;
  const Error unclosed = opening(folder, "a,b\n1,2\n3,\"x\n4,5\n6,7\n");
  CHECK(unclosed.code() == Errc::corrupt);
  CHECK(mentions(unclosed, "line 3 is never closed"));
  CHECK(unclosed.offset() == 10u);
  const Error after = opening(folder, "a,b\n1,2\n3,\"x\"y\n");
  CHECK(after.code() == Errc::corrupt);
  CHECK(mentions(after, "line 3 text follows a closing quote"));
  CHECK(mentions(opening(folder, "\"a"), "line 1 is never closed"));
  // Inside of a cell that doesn't begin with one, a quote is a character.
  folder.write("t.csv", "size,n\n5\" disk,1\n3.5\"\"x,2\n");
  const CsvSource disks({.path = folder / "t.csv"});
  CHECK(read_text(disks, 0, "size") == "5\" disk");
  CHECK(read_text(disks, 1, "size") == "3.5\"\"x");
}

TEST_CASE("a record that is too long is refused, and costs no more than its limit") {
  const TempFolder folder;
  const std::string huge(9u << 20, '7');
  const Error error = opening(folder, "a\n1\n" + huge + "\n2\n", {.path = {}, .max_record_bytes = 5u << 20});
  CHECK(error.code() == Errc::limit_exceeded);
  CHECK(mentions(error, "line 3"));
  CHECK(mentions(error, "max_record_bytes"));
  const Error open_quote = opening(folder, "a\n1\n\"" + huge, {.path = {}, .max_record_bytes = 5u << 20});
  CHECK(mentions(open_quote, "is a quote never closed"));
  CHECK(opening(folder, "a\n1\n123456789\n", {.path = {}, .max_record_bytes = 5}).code() == Errc::limit_exceeded);
  folder.write("t.csv", "a\n1\n12345\n");
  CHECK(CsvSource({.path = folder / "t.csv", .max_record_bytes = 5}).size() == 2);
  // Within the limit it is one cell like any other.
  folder.write("t.csv", "a\n1\n" + huge + "\n2\n");
  const CsvSource source({.path = folder / "t.csv", .columns = {{"a", CsvType::number}}});
  REQUIRE(source.size() == 3);
  CHECK(mentions(error_of([&] { (void)read_sample(source, 1); }), "..."));  // said in part
}

TEST_CASE("what is no table is refused in words") {
  const TempFolder folder;
  CHECK(opening(folder, "").code() == Errc::corrupt);
  CHECK(opening(folder, "\n\r\n\n").code() == Errc::corrupt);
  CHECK(mentions(opening(folder, "a,b\n"), "no record to tell types by"));
  CHECK(mentions(opening(folder, std::string("\xff\xfe") + std::string("a\0\n\0", 4)), "UTF-16"));
  const auto path = [&](const std::string& name) { return error_of([&] { CsvSource(Csv{.path = folder / name}); }); };
  CHECK(path("none.csv").code() == Errc::not_found);
  CHECK(path("*.none").code() == Errc::not_found);
  CHECK(path("").code() == Errc::io);
  CHECK(mentions(path(""), "not a regular file"));
}

TEST_CASE("columns that aren't there, or are there twice, are named") {
  const TempFolder folder;
  const std::string text = "a,b,a,\n1,2,3,4\n";
  CHECK(mentions(opening(folder, text, {.path = {}, .columns = {{"c"}}}), "no column \"c\"; the columns are a, b, a"));
  CHECK(mentions(opening(folder, text, {.path = {}, .columns = {{"a"}}}), "two columns are called \"a\""));
  CHECK(mentions(opening(folder, "a,\n1,2\n"), "column 1 (counted from 0) has no name"));
  CHECK(mentions(opening(folder, "a,b\n1,2\n", {.path = {}, .vectors = {{"v", {"b", "z"}}}}), "no column \"z\""));
  CHECK(mentions(opening(folder, "a,b\n1,2\n", {.path = {}, .vectors = {{"v", {}}}}), "has no columns"));
  CHECK(mentions(opening(folder, "a,b\n1,2\n", {.path = {}, .columns = {{"a"}, {"b", CsvType::text, {}, "a"}}}),
                 "\"a\""));
  CHECK(opening(folder, "a,b\n1,2\n", {.path = {}, .delimiter = '"'}).code() == Errc::invalid_argument);
  folder.write("u-1.csv", "a,b\n1,2\n");
  folder.write("u-2.csv", "a\n1\n");
  const Error other = error_of([&] { CsvSource(Csv{.path = folder / "u-*.csv"}); });
  CHECK(mentions(other, "u-2.csv"));
  CHECK(mentions(other, "no column \"b\""));
}

TEST_CASE("records that are wrong are errors of theirs alone, and say where they are") {
  const TempFolder folder;
  folder.write("t.csv", "a,b\n1,2\n3\n4,5,6\n7,x\n8," + std::string(1, '\0') + "9\n10,11\n");
  const CsvSource source(
      {.path = folder / "t.csv", .columns = {{"a", CsvType::number, DType::i64}, {"b", CsvType::number, DType::i64}}});
  REQUIRE(source.size() == 6);
  const auto error = [&](std::uint64_t i) { return error_of([&] { (void)read_sample(source, i); }); };
  CHECK(mentions(error(1), "line 3: the record has 1 cells; the file has 2 columns"));
  CHECK(mentions(error(2), "line 4: the record has 3 cells"));
  const Error x = error(3);
  CHECK(x.code() == Errc::corrupt);
  CHECK(x.file() == folder / "t.csv");
  CHECK(x.key() == "t.csv:5");
  CHECK(x.index() == 3u);
  CHECK(x.offset() == 18u);
  CHECK(mentions(x, "column \"b\": \"x\" is not a whole number"));
  CHECK(mentions(error(4), "\\x009"));
  CHECK(*read_sample(source, 5)["b"].as<std::int64_t, 0>().data() == 11);
  CHECK(error(6).code() == Errc::not_found);
}

TEST_CASE("a table cut short or replaced while it is open is an error with FileAccess::read") {
  const TempFolder folder;
  std::string text = "a\n";
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + "\n";
  folder.write("t.csv", text);
  const CsvSource source({.path = folder / "t.csv", .access = FileAccess::read});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  reader->read(19'999, out);
  std::filesystem::resize_file(folder / "t.csv", 1000);
  CHECK(error_of([&] { reader->read(19'999, out); }).code() == Errc::io);
  reader->read(10, out);                                                       // what is still there is still read
  CHECK(error_of([&] { (void)read_sample(source, 10); }).code() == Errc::io);  // a new reader sees another file
  CHECK(mentions(error_of([&] { (void)read_sample(source, 10); }), "changed or replaced"));
}
