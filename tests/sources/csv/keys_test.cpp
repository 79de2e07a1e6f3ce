// SPDX-License-Identifier: Apache-2.0
// A column whose cells are the records' keys.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::string write(const TempFolder& folder, std::string_view name, std::string_view content) {
  folder.write(name, content);
  return folder / name;
}

std::vector<std::string> keys_of(const CsvSource& source) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

// What reading that record's key says.
Error refused_key(const CsvSource& source, std::uint64_t index) {
  try {
    source.key(index);
  } catch (const Error& error) {
    return error;
  }
  FAIL("the key of record " << index << " was not refused");
  throw 0;
}

}  // namespace

TEST_CASE("a column's cells are the keys, wherever the column is, and no field") {
  const TempFolder folder;
  write(folder, "1.csv", "file,label\nb.png,1\n\"a \"\"b\"\", c.png\",2\n");
  write(folder, "2.csv", "label,file\r\n3,c.png\r\n4,");
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    CAPTURE(access);
    const CsvSource source({.path = folder / "*.csv", .key = "file", .access = access});
    CHECK(source.schema().to_string() == "{label: i64[]}");
    CHECK(keys_of(source) == std::vector<std::string>{"b.png", "a \"b\", c.png", "c.png", ""});
    CHECK(*read_sample(source, 2)["label"].as<std::int64_t, 0>().data() == 3);
    const CsvSource as_field(
        {.path = folder / "*.csv", .key = "file", .columns = {{"file"}, {"label"}}, .access = access});
    CHECK(read_text(as_field, 1, "file") == as_field.key(1));
  }
  const CsvSource numbered({.path = write(folder, "n.txt", "x,7\ny,8\n"), .key = "0", .header = false});
  CHECK(numbered.schema().to_string() == "{1: i64[]}");
  CHECK(keys_of(numbered) == std::vector<std::string>{"x", "y"});
}

TEST_CASE("a column for keys is part of what the source is, and has to be there") {
  const TempFolder folder;
  const std::string file = write(folder, "t.csv", "file,id,n\na,1,1\nb,2,2\n");
  const std::vector<CsvColumn> n = {{"n"}};
  CHECK(CsvSource({.path = file, .key = "file", .columns = n}).identity() !=
        CsvSource({.path = file, .key = "id", .columns = n}).identity());
  CHECK(CsvSource({.path = file, .key = "file", .columns = n}).identity() !=
        CsvSource({.path = file, .columns = n}).identity());
  CHECK_THROWS_WITH(CsvSource({.path = file, .key = "name"}),
                    Catch::Matchers::Contains("no column \"name\"; the columns are file, id, n"));
  CHECK_THROWS_WITH(CsvSource({.path = write(folder, "twice.csv", "a,a,b\n1,2,3\n"), .key = "a", .columns = {{"b"}}}),
                    Catch::Matchers::Contains("two columns are called \"a\""));
  CHECK_THROWS_WITH(CsvSource({.path = write(folder, "alone.csv", "file\na\n"), .key = "file"}),
                    Catch::Matchers::Contains("no column but \"file\""));
}

TEST_CASE("a record without the keys' cell says where it is, and so does a bad cell") {
  const TempFolder folder;
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    CAPTURE(access);
    const CsvSource source({.path = write(folder, "t.csv", "n,file\n1,a\n2\nx,c\n"),
                            .key = "file",
                            .columns = {{.column = "n", .type = CsvType::number}},
                            .access = access});
    const Error error = refused_key(source, 1);
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.key() == "t.csv:3");
    CHECK(error.index() == 1);
    CHECK_THAT(error.what(),
               Catch::Matchers::Contains("line 3") && Catch::Matchers::Contains("ends before the column \"file\""));
    CHECK(refused_key(source, 3).code() == Errc::not_found);
    CHECK_THROWS_WITH(read_sample(source, 2), Catch::Matchers::Contains("t.csv:4"));
  }
}

TEST_CASE("a file that becomes shorter says at which of its bytes") {
  const TempFolder folder;
  std::string text = "file,n\n";
  for (int i = 0; i < 5000; ++i) text += "k" + std::to_string(i) + ",7\n";
  const std::string file = write(folder, "t.csv", text);
  const CsvSource source({.path = file, .key = "file", .access = FileAccess::read});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  reader->read(0, out);
  const std::uint64_t bytes = text.find("k4000,") + 2;
  std::filesystem::resize_file(file, bytes);
  try {
    reader->read(4000, out);
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::io);
    CHECK(error.offset() == bytes);
    CHECK(error.key() == "t.csv:4002");
  }
  CHECK(refused_key(source, 4000).code() == Errc::io);  // opened anew, it is another file
}

TEST_CASE("lines in any order are paired with the records that their keys name") {
  const TempFolder folder;
  const Csv labels{.path = write(folder, "labels.csv", "file,label\nimg/c.jpg,3\nimg/a.jpg,1\nimg/b.jpg,2\n"),
                   .key = "file"};
  const Csv boxes{.path = write(folder, "boxes.csv", "name,x\na,10\nb,20\nc,30\n"), .key = "name"};
  Loader loader(from(pair(CsvSource(boxes), CsvSource(labels))) | batch(3), {.executor = Executor(1)});
  const Batch batch = loader.next().value();
  for (const int row : {0, 1, 2}) {
    CHECK(batch.view<std::int64_t, 1>("x")(row) == 10 * (row + 1));
    CHECK(batch.view<std::int64_t, 1>("label")(row) == row + 1);
  }
  CHECK_THROWS_AS(zip(CsvSource(boxes), CsvSource(labels)), Error);
  // Places tell nothing of what belongs together.
  CHECK_THROWS_AS(pair(CsvSource(boxes), CsvSource({.path = labels.path})), Error);
}
