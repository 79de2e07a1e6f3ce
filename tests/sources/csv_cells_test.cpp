// Odd cells against a reader that takes each one by itself, with std::from_chars.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "source_checks.hpp"
#include "support/catch.hpp"
#include "temp_folder.hpp"

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

template <class T>
Outcome number(std::string_view text, DType dtype) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::invalid_argument || end != text.data() + text.size())
    return {"", std::is_integral_v<T> ? "not a whole number" : "not a number"};
  if (failed != std::errc()) return {"", "outside the range of " + std::string(to_string(dtype))};
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
    table.options.safe_read = round % 2 == 1;
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

TEST_CASE("decimals of all lengths have the bits that std::from_chars gives them") {
  const TempFolder folder;
  Random random(3);
  std::string text = "a,b,c,d\n";
  std::vector<std::string> cells;
  for (int i = 0; i < 4 * 100'000; ++i) {
    std::string cell = random() % 2 == 0 ? "-" : "";
    const std::size_t whole = random() % 11, decimals = random() % 12;
    for (std::size_t n = 0; n < std::max<std::size_t>(whole, 1); ++n) cell += static_cast<char>('0' + random() % 10);
    if (random() % 4 != 0) cell += '.';
    if (cell.back() == '.')
      for (std::size_t n = 0; n < decimals; ++n) cell += static_cast<char>('0' + random() % 10);
    if (random() % 10 == 0) cell += "e" + std::to_string(static_cast<int>(random() % 60) - 35);
    text += cell + (i % 4 == 3 ? "\n" : ",");
    cells.push_back(std::move(cell));
  }
  // Exactly half way between two floats, and next to that.
  for (const char* half : {"16777217", "16777216.9999999999", "16777217.000000001", "33554434.0", "8388608.5",
                           "8388609.5", "8388609.49999999999", "1.00000005960464477539062", "9007199254740993",
                           "9007199254740992.9", "9007199254740993.1", "18014398509481986"}) {
    text += std::string(half) + ",-" + half + "," + half + ",-" + half + "\n";
    for (int i = 0; i < 4; ++i) cells.push_back((i % 2 == 0 ? "" : "-") + std::string(half));
  }
  folder.write("t.csv", text);
  const CsvSource source(
      {.path = folder / "t.csv",
       .vectors = {{"f", {"a", "b", "c", "d"}, DType::f32}, {"d", {"a", "b", "c", "d"}, DType::f64}}});
  REQUIRE(source.schema().to_string() == "{f: f32[4], d: f64[4]}");
  const CsvSource floats({.path = folder / "t.csv", .vectors = {{"f", {"a", "b", "c", "d"}, DType::f32}}});
  const CsvSource doubles({.path = folder / "t.csv", .vectors = {{"d", {"a", "b", "c", "d"}, DType::f64}}});
  OwnedSample both(source.schema()), f(floats.schema()), d(doubles.schema());
  SampleBuilder both_out = both.builder(), f_out = f.builder(), d_out = d.builder();
  const auto both_reader = source.open_reader(), f_reader = floats.open_reader(), d_reader = doubles.open_reader();
  const auto same = [](const TensorView& x, const TensorView& y) {
    return std::memcmp(x.data, y.data, x.bytes()) == 0;
  };
  for (std::uint64_t record = 0; record < source.size(); ++record) {
    both_reader->read(record, both_out);
    f_reader->read(record, f_out);
    d_reader->read(record, d_out);
    REQUIRE(same(both["f"], f["f"]));
    REQUIRE(same(both["d"], d["d"]));
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string& cell = cells[record * 4 + i];
      float want_f = 0;
      double want_d = 0;
      REQUIRE(std::from_chars(cell.data(), cell.data() + cell.size(), want_f).ec == std::errc());
      REQUIRE(std::from_chars(cell.data(), cell.data() + cell.size(), want_d).ec == std::errc());
      INFO(cell);
      REQUIRE(std::memcmp(f["f"].data + 4 * i, &want_f, 4) == 0);
      REQUIRE(std::memcmp(d["d"].data + 8 * i, &want_d, 8) == 0);
    }
  }
}

TEST_CASE("no byte is read from behind a table's last page") {
  const TempFolder folder;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::string text = "a,b\n";
  while (text.size() + 2 * std::string_view("1,2\n").size() <= page) text += "1,2\n";
  text += "-3," + std::string(page - text.size() - 3, '4');
  REQUIRE(text.size() == page);
  folder.write("t.csv", text);
  // Holes of one page, each before a page that can't be read: a map of the table comes to lie in one of them.
  std::vector<char*> guards;
  for (int i = 0; i < 64; ++i) {
    void* const two = ::mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(two != MAP_FAILED);
    guards.push_back(static_cast<char*>(two));
  }
  for (char* const guard : guards) ::munmap(guard, page);
  const CsvSource source({.path = folder / "t.csv", .vectors = {{"v", {"a", "b"}}}});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  for (std::uint64_t i = 0; i < source.size(); ++i) reader->read(i, out);
  CHECK(sample["v"].as<float, 1>()(0) == -3);
  for (char* const guard : guards) ::munmap(guard + page, page);
}

TEST_CASE("records lie where they lie in a table of more than 4 GiB") {
  // Most of it are holes, which take no room: records of zeros.
  const TempFolder folder;
  constexpr std::uint64_t far = std::uint64_t{1} << 32, step = std::uint64_t{2} << 20;
  const std::string path = folder / "t.csv";
  std::ofstream file(path, std::ios::binary);
  file << "a\n";
  std::uint64_t holes = 0;
  for (std::uint64_t at = step; at < far + 2 * step; at += step) {
    if (at == far) {
      // Numbers on both sides of it, one of them across.
      file.seekp(static_cast<std::streamoff>(far - 9));
      file << "\n12\n345\n678\n9";
    } else {
      file.seekp(static_cast<std::streamoff>(at));
    }
    file << '\n';
    ++holes;
  }
  file.close();
  REQUIRE(file);
  const CsvSource source({.path = path, .columns = {{"a", CsvType::number, DType::i32}}});
  REQUIRE(source.size() == holes + 4);
  const std::uint64_t first = far / step;  // before it a record for each hole
  const std::array<std::int32_t, 4> numbers{12, 345, 678, 9};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    CHECK(*read_sample(source, first + i)["a"].as<std::int32_t, 0>().data() == numbers[i]);
  const Error last = error_of([&] { (void)read_sample(source, source.size() - 1); });
  CHECK(last.offset() == far + 5);
  CHECK(last.key() == "t.csv:" + std::to_string(source.size() + 1));
}
