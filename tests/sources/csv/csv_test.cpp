// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/memory.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

template <class T>
T scalar(const CsvSource& source, std::uint64_t index, std::string_view field) {
  return *read_sample(source, index)[field].as<T, 0>().data();
}

// A file of that content, opened.
CsvSource table(const TempFolder& folder, std::string_view content, Csv options = {}) {
  folder.write("t.csv", content);
  options.path = folder / "t.csv";
  return CsvSource(options);
}

}  // namespace

TEST_CASE("types follow from all records") {
  const TempFolder folder;
  const CsvSource source = table(folder,
                                 "name,age,height,id\n"
                                 "Ada,36,1.63,9223372036854775807\n"
                                 "\"Li, Wei\",-4,2,9223372036854775808\n"
                                 "\"the \"\"Duke\"\"\", +7 ,1e-3,0\n");
  // No number holds all of the last column.
  CHECK(source.schema().to_string() == "{name: u8[?], age: i64[], height: f64[], id: u8[?]}");
  REQUIRE(source.size() == 3);
  CHECK(read_text(source, 0, "name") == "Ada");
  CHECK(read_text(source, 1, "name") == "Li, Wei");
  CHECK(read_text(source, 2, "name") == "the \"Duke\"");
  CHECK(scalar<std::int64_t>(source, 1, "age") == -4);
  CHECK(scalar<std::int64_t>(source, 2, "age") == 7);
  CHECK(scalar<double>(source, 2, "height") == 1e-3);
  CHECK(read_text(source, 0, "id") == "9223372036854775807");
  // The last record decides as much as the first.
  std::string numbers = "n\n";
  for (int i = 0; i < 5000; ++i) numbers += std::to_string(i) + "\n";
  CHECK(table(folder, numbers).schema().at("n").dtype == DType::i64);
  CHECK(table(folder, numbers + "0.5\n").schema().at("n").dtype == DType::f64);
  CHECK(table(folder, numbers + "five\n").schema().at("n").dtype == DType::u8);
}

TEST_CASE("a column of numbers that is text for the sake of some cells is told, with the first of them") {
  struct Row {
    std::string_view content;
    std::string note;  // empty: none
  };
  const TempFolder folder;
  const std::string in_file = " of " + (folder / "t.csv") + " has ";
  for (const Row& row : {
           Row{"a;b\n1;0,5\n2;1,25\n",
               "column \"b\" is text, as line 2" + in_file + "\"0,5\": write numbers with a point"},
           Row{"a;b\n1;3\n2;1,25\n",
               "column \"b\" is text, as line 3" + in_file + "\"1,25\": write numbers with a point"},
           Row{"a\n1\n2.5\n\nfive\n6\nseven\n",
               "column \"a\" is text, as line 5" + in_file +
                   "\"five\"; say that it holds numbers to make such records bad samples"},
           Row{"a\nAda\nLi\n7\n", ""},
           Row{"a\n\"1,5 kg\"\n", ""},
           Row{"a\nNA\n1.5\n", ""},
       }) {
    CAPTURE(row.content);
    const CsvSource source = table(folder, row.content);
    CHECK(source.notes() == (row.note.empty() ? std::vector<std::string>() : std::vector{row.note}));
    const std::string plan = from(source).plan();
    CHECK((plan.find("is text") != std::string::npos) == !row.note.empty());
  }
  // A type that was asked for is no surprise.
  CHECK(
      table(folder, "a\n1\nfive\n", {.path = "", .columns = {{.column = "a", .type = CsvType::text}}}).notes().empty());
}

TEST_CASE("a whole number that a float would round is refused, and the types that hold it are named") {
  const TempFolder folder;
  const auto cause = [&](const std::string& cell, DType dtype, bool in_vector) {
    Csv options;
    if (in_vector)
      options.vectors = {{"v", {"n", "m"}, dtype}};
    else
      options.columns = {{"n", CsvType::number, dtype}};
    const CsvSource source = table(folder, "m,n\n1," + cell + "\n", options);
    try {
      (void)read_sample(source, 0);
    } catch (const Error& error) {
      CHECK(error.code() == Errc::corrupt);
      return error.cause();
    }
    return std::string();
  };
  for (const bool in_vector : {false, true}) {
    CAPTURE(in_vector);
    const auto f32 = [&](const std::string& cell) { return cause(cell, DType::f32, in_vector); };
    const auto f64 = [&](const std::string& cell) { return cause(cell, DType::f64, in_vector); };
    CHECK(f32("16777217") ==
          "line 2: column \"n\": \"16777217\" is a whole number, which f32 would round; read the column as i64 or f64");
    CHECK(f32("-99999999").ends_with("read the column as i64 or f64"));
    CHECK(f32(" +0016777217").ends_with("read the column as i64 or f64"));
    CHECK(f32("9007199254740993").ends_with("read the column as i64"));
    CHECK(f64("9007199254740993").ends_with("read the column as i64"));
    CHECK(f64("18446744073709551615").ends_with("read the column as u64"));
    CHECK(f64("18446744073709551617").ends_with("read the column as text"));
    CHECK(f32("340282346638528859811704183484516925441").ends_with("read the column as text"));
    for (const char* exact :
         {"16777216", "16777218", "-33554436", "00016777216", "340282346638528859811704183484516925440", "16777217.0",
          "16777217e0", "0.1", "nan", "inf"})
      CHECK(f32(exact).empty());
    for (const char* exact : {"16777217", "9007199254740992", "9007199254740994", "100000000000000000000", "1e23"})
      CHECK(f64(exact).empty());
  }
  // Nor does the one that stands for missing cells become another one.
  CHECK(error_of([&] {
          (void)table(folder, "n\n1\n",
                      {.path = {}, .columns = {{"n", CsvType::number, DType::f32}}, .missing_value = 16777217});
        })
            .cause()
            .find("`missing_value` can't be a value of field \"n\"") == 0);
  CHECK_NOTHROW(
      table(folder, "n\n1\n", {.path = {}, .columns = {{"n", CsvType::number, DType::f32}}, .missing_value = 0.1}));
}

TEST_CASE("columns are chosen, typed and named") {
  const TempFolder folder;
  const CsvSource source = table(
      folder, "a,b,c,d\n1,2,3,4\n250,-6,7.5,true\n",
      {.path = {},
       .columns = {{.column = "d", .type = CsvType::text},
                   {.column = "a", .type = CsvType::number, .dtype = DType::u8, .field = "A"},
                   {.column = "b"},
                   {.column = "a", .type = CsvType::text, .field = "text"}},
       .vectors = {{.field = "v", .columns = {"c", "a", "c"}}, {.field = "w", .columns = {"b"}, .dtype = DType::i16}}});
  CHECK(source.schema().to_string() == "{d: u8[?], A: u8[], b: i64[], text: u8[?], v: f32[3], w: i16[1]}");
  CHECK(read_text(source, 1, "d") == "true");
  CHECK(scalar<std::uint8_t>(source, 1, "A") == 250);
  CHECK(read_text(source, 1, "text") == "250");
  const OwnedSample sample = read_sample(source, 1);
  const auto v = sample["v"].as<float, 1>();
  CHECK((v(0) == 7.5f && v(1) == 250 && v(2) == 7.5f));
  CHECK(sample["w"].as<std::int16_t, 1>()(0) == -6);
  // What is in a vector is no field of its own, unless it is asked for.
  CHECK(table(folder, "a,b,c\n1,2,3\n", {.path = {}, .vectors = {{"v", {"a", "c"}}}}).schema().to_string() ==
        "{b: i64[], v: f32[2]}");
}

TEST_CASE("every dtype has its range") {
  const TempFolder folder;
  const auto read = [&](DType dtype, const std::string& cell) {
    return read_sample(table(folder, "x\n" + cell + "\n", {.path = {}, .columns = {{"x", CsvType::number, dtype}}}), 0);
  };
  CHECK(*read(DType::i8, "-128")["x"].as<std::int8_t, 0>().data() == -128);
  CHECK(*read(DType::u64, "18446744073709551615")["x"].as<std::uint64_t, 0>().data() == ~std::uint64_t{0});
  CHECK(*read(DType::i32, "-2147483648")["x"].as<std::int32_t, 0>().data() == INT32_MIN);
  CHECK(*read(DType::f32, "0.1")["x"].as<float, 0>().data() == 0.1f);
  CHECK(std::isnan(*read(DType::f64, "nan")["x"].as<double, 0>().data()));
  CHECK(*read(DType::f32, "-inf")["x"].as<float, 0>().data() == -std::numeric_limits<float>::infinity());
  for (const char* yes : {"1", "true", "True", "TRUE"}) CHECK(*read(DType::boolean, yes)["x"].as<bool, 0>().data());
  for (const char* no : {"0", "false"}) CHECK_FALSE(*read(DType::boolean, no)["x"].as<bool, 0>().data());
  const auto refused = [&](DType dtype, const std::string& cell) { return error_of([&] { (void)read(dtype, cell); }); };
  CHECK(mentions(refused(DType::u8, "256"), "\"256\" is outside the range of u8"));
  CHECK(mentions(refused(DType::i8, "-129"), "outside the range"));
  CHECK(mentions(refused(DType::u16, "-1"), "not a whole number"));
  CHECK(mentions(refused(DType::i64, "1.0"), "not a whole number"));
  CHECK(mentions(refused(DType::i64, "9223372036854775808"), "outside the range of i64"));
  CHECK(mentions(refused(DType::f32, "1e39"), "outside the range of f32"));
  CHECK(mentions(refused(DType::f64, "1,5"), "2 cells"));
  CHECK(mentions(refused(DType::f64, "0x10"), "not a number"));
  CHECK(mentions(refused(DType::f64, "1 2"), "not a number"));
  CHECK(mentions(refused(DType::f64, "+-1"), "not a number"));
  CHECK(mentions(refused(DType::boolean, "yes"), "not 0, 1, true or false"));
  CHECK(refused(DType::f16, "1").code() == Errc::invalid_argument);
  CHECK(refused(DType::bf16, "1").code() == Errc::invalid_argument);
}

TEST_CASE("missing cells are an error of their record, or a declared value") {
  const TempFolder folder;
  const std::string text = "a,b\n1,\nNA,2.5\n 3 , NA \n";
  const CsvSource strict = table(folder, text);
  CHECK(strict.schema().to_string() == "{a: i64[], b: f64[]}");
  const Error error = error_of([&] { (void)read_sample(strict, 1); });
  CHECK(error.sample_scoped());
  CHECK(mentions(error, "line 3"));
  CHECK(mentions(error, "column \"a\": is missing"));
  CHECK(mentions(error, "missing_value"));
  CHECK(error_of([&] { (void)read_sample(strict, 2); }).cause().find("\"b\"") != std::string::npos);

  const CsvSource nan = table(folder, text, {.path = {}, .missing_value = std::numeric_limits<double>::quiet_NaN()});
  CHECK(nan.schema().to_string() == "{a: f64[], b: f64[]}");
  CHECK(std::isnan(scalar<double>(nan, 0, "b")));
  CHECK(std::isnan(scalar<double>(nan, 1, "a")));
  CHECK(scalar<double>(nan, 2, "a") == 3);
  for (const double large : {1e300, std::numeric_limits<double>::infinity()})
    CHECK(scalar<double>(table(folder, text, {.path = {}, .missing_value = large}), 1, "a") == large);
  // A column without missing cells keeps its type.
  const CsvSource whole = table(folder, "a,b\n1,\n2,3\n", {.path = {}, .missing_value = 0.5});
  CHECK(whole.schema().to_string() == "{a: i64[], b: f64[]}");
  CHECK(scalar<double>(whole, 0, "b") == 0.5);
  const CsvSource minus = table(folder, text, {.path = {}, .missing_value = -1});
  CHECK(minus.schema().at("a").dtype == DType::i64);
  CHECK(scalar<std::int64_t>(minus, 1, "a") == -1);
  // A number may be declared to be missing; text never is.
  const CsvSource declared =
      table(folder, "a,b\n-999,x\n5,NA\n", {.path = {}, .missing_cells = {"-999"}, .missing_value = 0});
  CHECK(scalar<std::int64_t>(declared, 0, "a") == 0);
  CHECK(read_text(declared, 1, "b") == "NA");
  CHECK(error_of([&] {
          table(folder, text, {.path = {}, .columns = {{"a", CsvType::number, DType::u8}}, .missing_value = -1});
        }).code() == Errc::invalid_argument);
}

TEST_CASE("what becomes of cells that are empty or no number, as the page says") {
  const TempFolder folder;
  // What a cell is: "" is a sample that reads it as NaN, else the cause of a bad sample.
  const std::string missing = "is missing", no_number = "is not a number", no_whole = "is not a whole number";
  struct Case {
    std::string cell, as_float, as_whole;
    DType automatic;  // of a column of 1 and this cell
  };
  for (const Case& c : std::vector<Case>{
           {"", missing, missing, DType::i64},
           {"  ", missing, missing, DType::i64},
           {"\"\"", missing, missing, DType::i64},
           {"NA", missing, missing, DType::i64},
           {"NaN", "", no_whole, DType::f64},
           {"nan", "", no_whole, DType::f64},
           {"-nan", "", no_whole, DType::f64},
           {"\"nan\"", "", no_whole, DType::f64},
           {"N/A", no_number, no_whole, DType::u8},
           {"null", no_number, no_whole, DType::u8},
           {"None", no_number, no_whole, DType::u8},
           {"na", no_number, no_whole, DType::u8},
       }) {
    CAPTURE(c.cell);
    const std::string text = "x,y\n1,1\n" + c.cell + ",2\n";
    CHECK(table(folder, text).schema().at("x").dtype == c.automatic);
    const auto check_as = [&](DType dtype, const std::string& says) {
      const CsvSource source = table(folder, text, {.path = {}, .columns = {{"x", CsvType::number, dtype}}});
      if (says.empty()) {
        CHECK(std::isnan(scalar<float>(source, 1, "x")));
        return;
      }
      const Error error = error_of([&] { (void)read_sample(source, 1); });
      CHECK(error.sample_scoped());
      CHECK(mentions(error, says));
    };
    check_as(DType::f32, c.as_float);
    check_as(DType::i64, c.as_whole);
    // Where it is declared to be missing, and what that stands for.
    if (c.cell == "" || c.cell == "  " || c.cell == "\"\"") continue;
    const std::string plain = c.cell == "\"nan\"" ? "nan" : c.cell;
    const CsvSource declared = table(folder, text, {.path = {}, .missing_cells = {"", plain}, .missing_value = -1});
    CHECK(scalar<std::int64_t>(declared, 1, "x") == -1);
  }
}

TEST_CASE("lines end as they may, and keys say where records begin") {
  const TempFolder folder;
  const std::string text =
      "\xef\xbb\xbf"
      "\n\"x\",\"two\nlines\"\r\n1,a\r\n\r\n\n2,\"b\r\nc\n\"\n3,\"\"\r\n4,d";
  const CsvSource source = table(folder, text);
  CHECK(source.schema().to_string() == "{x: i64[], two\nlines: u8[?]}");
  REQUIRE(source.size() == 4);
  CHECK(read_text(source, 0, "two\nlines") == "a");
  CHECK(read_text(source, 1, "two\nlines") == "b\r\nc\n");
  CHECK(read_text(source, 2, "two\nlines") == "");
  CHECK(read_text(source, 3, "two\nlines") == "d");
  const std::vector<std::string> keys{"t.csv:00000004", "t.csv:00000007", "t.csv:00000010", "t.csv:00000011"};
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(source.key(i) == keys[i]);
    CHECK(scalar<std::int64_t>(source, i, "x") == static_cast<std::int64_t>(i) + 1);
  }
}

TEST_CASE("tabs, other delimiters, and tables without a header") {
  const TempFolder folder;
  folder.write("t.tsv", "a\tb,c\n1\t2,5\n");
  const CsvSource tabs({.path = folder / "t.tsv"});
  CHECK(read_text(tabs, 0, "b,c") == "2,5");
  CHECK(table(folder, "a;b\n1;2\n", {.path = {}, .delimiter = ';'}).schema().size() == 2);
  const CsvSource plain = table(folder, "5,x\n6,y\n", {.path = {}, .header = false});
  CHECK(plain.size() == 2);
  CHECK(plain.schema().to_string() == "{0: i64[], 1: u8[?]}");
  CHECK(scalar<std::int64_t>(plain, 0, "0") == 5);
  CHECK(plain.key(0) == "t.csv:00000001");
}

TEST_CASE("many files are one table, whatever the order of their columns") {
  const TempFolder folder;
  folder.write("p-10.csv", "b,a\n1,10\n2,20\n");
  folder.write("p-2.csv", "a,b\n30,3\n");
  folder.write("p-3.csv", "x,a,b\n");
  const CsvSource source({.path = folder / "p-*.csv", .columns = {{"a"}, {"b"}}});
  REQUIRE(source.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i)
    CHECK(scalar<std::int64_t>(source, i, "a") == 10 * scalar<std::int64_t>(source, i, "b"));
  CHECK(scalar<std::int64_t>(source, 2, "b") == 3);
  CHECK(source.key(0) == "p-10.csv:00000002");
  CHECK(source.key(2) == "p-2.csv:00000002");
  CHECK(source.block_ends() == std::vector<std::uint64_t>{2, 3, 3});
  CHECK(CsvSource({.path = folder / "p-2.csv"}).block_ends().empty());
  folder.write("q/t.csv", "a\n1\n");
  folder.write("r/t.csv", "a\n2\n");
  const CsvSource same_names({.path = folder / "?/t.csv"});
  CHECK(same_names.key(1) == (folder / "r/t.csv") + ":00000002");
}

TEST_CASE("identity is that of content and options, not of the file") {
  const TempFolder folder;
  const auto identity = [&](std::string_view text, const Csv& options = {}) {
    return table(folder, text, options).identity();
  };
  const std::uint64_t one = identity("a,b\n1,2\n");
  CHECK(identity("a,b\n1,2\n") == one);
  CHECK(identity("a,b\n1,3\n") != one);
  CHECK(identity("a,b\n1,2\n", {.path = {}, .columns = {{"b"}}}) != one);
  CHECK(identity("a,b\n1,2\n", {.path = {}, .missing_value = 1e-9}) !=
        identity("a,b\n1,2\n", {.path = {}, .missing_value = 2}));
  folder.write("copy.csv", "a,b\n1,2\n");
  CHECK(CsvSource({.path = folder / "copy.csv"}).identity() == one);
}

TEST_CASE("a table's columns stand beside the fields of another source") {
  const TempFolder folder;
  std::string text = "file,label,x,y\n";
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 100; ++i) {
    text += "img" + std::to_string(i) + ".png," + std::to_string(i % 7) + "," + std::to_string(i) + ".5,-1\n";
    pixels.insert(pixels.end(), 12, static_cast<std::uint8_t>(i));
  }
  folder.write("labels.csv", text);
  Memory images;
  images.add<std::uint8_t>("image", {2, 2, 3}, std::move(pixels));
  const CsvSource labels({.path = folder / "labels.csv", .columns = {{"label"}}, .vectors = {{"box", {"x", "y"}}}});
  const Pipeline joined = from(zip(images, labels)) | shuffle({.seed = 3}) | batch(8);
  Loader loader(joined, {.threads = 3, .epochs = 1});
  std::uint64_t rows = 0;
  for (const Batch& made : loader.epoch())
    for (std::uint64_t row = 0; row < made.size(); ++row, ++rows) {
      const auto i = static_cast<std::int64_t>(made.indices()[row]);
      REQUIRE(made.view<std::uint8_t, 4>("image")(row, 1, 1, 2) == i);
      REQUIRE(made.view<std::int64_t, 1>("label")(row) == i % 7);
      REQUIRE(made.view<float, 2>("box")(row, 0) == static_cast<float>(i) + 0.5f);
    }
  CHECK(rows == 100);
}
