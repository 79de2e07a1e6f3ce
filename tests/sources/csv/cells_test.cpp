// SPDX-License-Identifier: Apache-2.0
// Odd cells against a reader that takes each one by itself, with std::from_chars.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <penstock/extend/system_error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Random = std::mt19937_64;

constexpr std::array number_types{DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32,    DType::i32,
                                  DType::u64, DType::i64, DType::f32, DType::f64, DType::boolean};

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// What a cell is as a dtype: bytes, or what is wrong with it.
struct Outcome {
  std::string bytes, why;
};

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// A whole number in digits alone, which is not `value`.
bool rounds(std::string_view text, double value) {
  if (text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) != std::string_view::npos) return false;
  std::string digits(text.substr(text[0] == '-' ? 1 : 0));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  std::array<char, 400> exact{};
  std::snprintf(exact.data(), exact.size(), "%.0f", std::abs(value));
  return digits != exact.data();
}

template <class T>
Outcome number(std::string_view text, DType dtype) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::invalid_argument || end != text.data() + text.size())
    return {"", std::is_integral_v<T> ? "not a whole number" : "not a number"};
  if (failed != std::errc()) return {"", "outside the range of " + std::string(to_string(dtype))};
  if (std::is_floating_point_v<T> && rounds(text, static_cast<double>(value)))
    return {"", "a whole number, which " + std::string(to_string(dtype)) + " would round; read the column as "};
  return {bytes_of(value), ""};
}

Outcome number(std::string_view text, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return number<std::uint8_t>(text, dtype);
    case DType::i8:
      return number<std::int8_t>(text, dtype);
    case DType::u16:
      return number<std::uint16_t>(text, dtype);
    case DType::i16:
      return number<std::int16_t>(text, dtype);
    case DType::u32:
      return number<std::uint32_t>(text, dtype);
    case DType::i32:
      return number<std::int32_t>(text, dtype);
    case DType::u64:
      return number<std::uint64_t>(text, dtype);
    case DType::i64:
      return number<std::int64_t>(text, dtype);
    case DType::f32:
      return number<float>(text, dtype);
    case DType::f64:
      return number<double>(text, dtype);
    default:
      for (const char* yes : {"1", "true", "True", "TRUE"})
        if (text == yes) return {bytes_of(true), ""};
      for (const char* no : {"0", "false", "False", "FALSE"})
        if (text == no) return {bytes_of(false), ""};
      return {"", "not 0, 1, true or false"};
  }
}

Outcome outcome(const Csv& options, const std::string& cell, DType dtype) {
  const std::string_view text = trim(cell);
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  Outcome said = number(text.substr(plus ? 1 : 0), dtype);
  for (const std::string& missing : options.missing_cells)
    if (text == missing) said = {"", "missing"};
  if (said.why == "missing") {
    if (options.missing_value && dtype == DType::f32) return {bytes_of(static_cast<float>(*options.missing_value)), ""};
    if (options.missing_value && dtype == DType::f64) return {bytes_of(*options.missing_value), ""};
    if (options.missing_value) return number("7", dtype);
    said.why = "is missing: the cell is \"" + cell + "\"";
  } else if (!said.why.empty()) {
    said.why = "\"" + cell + "\" is " + said.why;
  }
  return said;
}

std::string digits(Random& random, std::size_t most) {
  std::string out;
  for (std::size_t n = random() % (most + 1); n > 0; --n) out += static_cast<char>('0' + random() % 10);
  return out;
}

// Often a number, in all the ways in which one can be written.
std::string odd_cell(Random& random) {
  static const std::vector<std::string> fixed{"",
                                              "NA",
                                              "nan",
                                              "-nan",
                                              "NaN",
                                              "inf",
                                              "-inf",
                                              "INFINITY",
                                              "-999",
                                              "-",
                                              "+",
                                              ".",
                                              "-.",
                                              "+-1",
                                              "++1",
                                              "--1",
                                              "1-",
                                              "0x10",
                                              "1e",
                                              "1e+",
                                              "e5",
                                              ".e5",
                                              "1.2.3",
                                              "1..2",
                                              "5.",
                                              ".5",
                                              "-.5",
                                              "-0",
                                              "-0.0",
                                              "0",
                                              "00",
                                              "007",
                                              "1_000",
                                              "1 2",
                                              " 1",
                                              "1\t",
                                              " -2.5 ",
                                              "+3",
                                              " +3.5e1 ",
                                              "true",
                                              "TRUE",
                                              "false",
                                              "yes",
                                              "1,5",
                                              "a\"b",
                                              "256",
                                              "-129",
                                              "65536",
                                              "-32769",
                                              "4294967296",
                                              "1e39",
                                              "1e-46",
                                              "1e400",
                                              "-1e400",
                                              "4.9e-324",
                                              "1.4e-45",
                                              "1e-400",
                                              "0e999",
                                              "-0e-999",
                                              "1.7976931348623157e308",
                                              "12345678",
                                              "123456789",
                                              "-12345678",
                                              "1234567.8",
                                              "0.1234567",
                                              "16777217",
                                              "16777219",
                                              "8388608.5",
                                              "9007199254740993",
                                              "9223372036854775807",
                                              "9223372036854775808",
                                              "-9223372036854775808",
                                              "18446744073709551615",
                                              "18446744073709551616",
                                              "9999999999999999999",
                                              "99999999999999999999",
                                              "0.30000000000000004",
                                              "100000000000000000000000000000000000000000",
                                              "0.000000000000000000000000000000000000000000000000000000000000001",
                                              "1/2",
                                              "1:2",
                                              "\x01",
                                              "12345678/",
                                              "1\n2",
                                              "\xc3\xa9"};
  if (random() % 3 == 0) return fixed[random() % fixed.size()];
  std::string out = random() % 2 == 0 ? "-" : "";
  const std::size_t most = random() % 4 == 0 ? 22 : 5;
  out += digits(random, most);
  if (random() % 3 != 0) out += "." + digits(random, most);
  if (random() % 8 == 0) {
    out += random() % 2 == 0 ? "e" : "E";
    out += std::array{"", "-", "+"}[random() % 3] + digits(random, 2);
  }
  return out;
}

struct Place {
  std::string field;
  std::size_t element;
  DType dtype;
};

struct Table {
  Csv options;
  std::vector<std::vector<Place>> places;  // of each column; nowhere: skipped
  std::size_t text_column = 0;
};

Table random_table(Random& random) {
  const auto any = [&] { return number_types[random() % number_types.size()]; };
  Table table;
  const DType v = any(), w = any(), x = any();
  table.options.columns = {{"x", CsvType::number, x}, {"text", CsvType::text}};
  table.options.vectors = {{"v", {"a", "b", "c", "d"}, v}, {"w", {"x", "y"}, w}};
  if (random() % 2 == 0) table.options.missing_cells = {"", random() % 2 == 0 ? "nan" : "-999"};
  if (random() % 2 == 0) table.options.missing_value = 7;
  // a b c d are read at once; x twice; "skip" never.
  table.places = {
      {{"v", 0, v}}, {{"v", 1, v}}, {{"v", 2, v}}, {{"v", 3, v}}, {}, {{"x", 0, x}, {"w", 0, w}}, {{"w", 1, w}}, {}};
  table.text_column = 4;
  // What a missing value can't be is refused when the table is opened.
  if (table.options.missing_value)
    for (const auto& of_column : table.places)
      for (const Place& place : of_column)
        if (place.dtype == DType::boolean) table.options.missing_value.reset();
  return table;
}

std::string written(const std::string& cell, Random& random) {
  const bool quotes = cell.find_first_of(",\n\"") != std::string::npos || random() % 12 == 0;
  if (!quotes) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

// What is wrong with a record, in the words of its error; empty: nothing, and its fields are in `sample`.
void hold(const Table& table, const std::vector<std::string>& cells, const std::vector<std::size_t>& offsets,
          const Error* error, const OwnedSample& sample) {
  static const std::array names{"a", "b", "c", "d", "text", "x", "y", "skip"};
  for (std::size_t column = 0; column < std::min(cells.size(), names.size()); ++column)
    for (const Place& place : table.places[column]) {
      const Outcome said = outcome(table.options, cells[column], place.dtype);
      if (!said.why.empty()) {
        REQUIRE(error != nullptr);
        REQUIRE(error->code() == Errc::corrupt);
        INFO("said: " << error->what() << "\nbut: " << said.why);
        const std::string shown = printable(cells[column], 60);
        if (shown == cells[column])
          REQUIRE(mentions(*error, "column \"" + std::string(names[column]) + "\": " + said.why));
        REQUIRE(error->offset() == offsets[column]);
        return;
      }
    }
  if (cells.size() != names.size()) {
    REQUIRE(error != nullptr);
    REQUIRE(mentions(*error, "the record has " + std::to_string(cells.size()) + " cells; the file has 8 columns"));
    return;
  }
  INFO((error == nullptr ? "" : error->what()));
  REQUIRE(error == nullptr);
  for (std::size_t column = 0; column < names.size(); ++column)
    for (const Place& place : table.places[column]) {
      const std::string want = outcome(table.options, cells[column], place.dtype).bytes;
      const TensorView field = sample[place.field];
      INFO("column " << names[column] << ", \"" << cells[column] << "\" as " << to_string(place.dtype));
      REQUIRE(std::memcmp(field.data + place.element * want.size(), want.data(), want.size()) == 0);
    }
  REQUIRE(text_of(sample["text"]) == cells[table.text_column]);
}

}  // namespace

TEST_CASE("any cell is what std::from_chars makes of it, or the error that says why not") {
  const TempFolder folder;
  for (unsigned round = 0; round < 400; ++round) {
    Random random(round);
    Table table = random_table(random);
    std::string text = "a,b,c,d,text,x,y,skip\n";
    std::vector<std::vector<std::string>> records;
    std::vector<std::vector<std::size_t>> offsets;
    for (int r = 0; r < 60; ++r) {
      std::vector<std::string> cells(random() % 20 == 0 ? random() % 11 : 8);
      std::vector<std::size_t> at;
      std::string line;
      for (std::string& cell : cells) {
        cell = random() % 4 == 0 ? odd_cell(random) : std::array{"1", "0", "1"}[random() % 3];
        at.push_back(text.size() + line.size());
        if (&cell != &cells.front()) {
          line += ',';
          ++at.back();
        }
        line += written(cell, random);
      }
      if (line.empty() || line[0] == '\r') continue;  // no record
      records.push_back(cells);
      offsets.push_back(at);
      text += line + (random() % 3 == 0 ? "\r\n" : "\n");
      if (random() % 10 == 0) text += random() % 2 == 0 ? "\n" : "\r\n\n";
    }
    if (round % 3 == 0)
      while (text.back() == '\n' || text.back() == '\r') text.pop_back();
    folder.write("t.csv", text);
    table.options.path = folder / "t.csv";
    table.options.access = round % 2 == 1 ? FileAccess::read : FileAccess::map;
    const CsvSource source(table.options);
    REQUIRE(source.size() == records.size());
    const auto reader = source.open_reader();
    for (std::size_t r = 0; r < records.size(); ++r) {
      OwnedSample sample(source.schema());
      SampleBuilder out = sample.builder();
      std::optional<Error> error;
      try {
        reader->read(r, out);
      } catch (const Error& thrown) {
        error.emplace(thrown);
      }
      INFO("round " << round << ", record " << r);
      hold(table, records[r], offsets[r], error ? &*error : nullptr, sample);
    }
  }
}

TEST_CASE("a column's type is the narrowest that all of its cells have") {
  const TempFolder folder;
  for (unsigned round = 0; round < 1500; ++round) {
    Random random(round);
    Csv options{.path = {}, .columns = {{"k", CsvType::text}, {"c"}}};
    if (round % 3 == 0) options.missing_cells = {"", "nan"};
    if (round % 3 == 1) options.missing_cells = {"7", "NA"};
    std::string text = "k,c\n";
    bool any = false, whole = true, numbers = true;
    const std::size_t records = 1 + random() % 6, oddness = 1 + random() % 8;
    for (std::size_t r = 0; r < records; ++r) {
      const std::string cell = random() % oddness == 0 ? odd_cell(random) : std::array{"7", "-12", "0.5"}[random() % 3];
      text += "k," + written(cell, random) + (random() % 2 == 0 ? "\r\n" : "\n");
      const Outcome number = outcome(options, cell, DType::f64);
      if (number.why.starts_with("is missing")) continue;
      any = true;
      whole = whole && outcome(options, cell, DType::i64).why.empty();
      numbers = numbers && number.why.empty();
    }
    folder.write("t.csv", text);
    options.path = folder / "t.csv";
    INFO("round " << round << ": " << text);
    const std::string type = !any || (!whole && !numbers) ? "u8[?]" : whole ? "i64[]" : "f64[]";
    REQUIRE(CsvSource(options).schema().to_string() == "{k: u8[?], c: " + type + "}");
  }
}
