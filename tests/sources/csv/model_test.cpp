// SPDX-License-Identifier: Apache-2.0
// Random tables against a reader that goes character by character.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Line {
  std::size_t number = 0;
  std::vector<std::string> cells;
};

// All lines, or nothing where quotes are wrong.
std::optional<std::vector<Line>> model(const std::string& text) {
  enum { begin, plain, inside, closing } state = begin;
  std::vector<Line> lines;
  Line line{1, {}};
  std::string cell;
  bool was_quoted = false;
  std::size_t number = 1;
  const auto end_cell = [&] {
    line.cells.push_back(std::exchange(cell, {}));
    state = begin;
  };
  const auto end_line = [&] {
    if (!was_quoted && !cell.empty() && cell.back() == '\r') cell.pop_back();
    const bool empty = line.cells.empty() && cell.empty() && !was_quoted;
    end_cell();
    if (!empty) lines.push_back(std::move(line));
    line = {number + 1, {}};
    was_quoted = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (state == inside) {
      if (c == '"')
        state = closing;
      else
        cell += c;
    } else if (state == closing && c == '"') {
      cell += c;
      state = inside;
    } else if (c == ',') {
      end_cell();
      was_quoted = false;
    } else if (c == '\n') {
      end_line();
    } else if (state == closing) {
      if (c != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) return std::nullopt;
    } else if (state == begin && c == '"') {
      state = inside;
      was_quoted = true;
    } else {
      cell += c;
      state = plain;
    }
    if (c == '\n') ++number;
  }
  if (state == inside) return std::nullopt;
  if (state != begin || !line.cells.empty()) end_line();
  return lines;
}

// Holds the source to the model, record by record.
void compare(const TempFolder& folder, const std::string& text, FileAccess access) {
  folder.write("t.csv", text);
  const auto lines = model(text);
  const Csv options{.path = folder / "t.csv", .columns = {{"0", CsvType::text}}, .header = false, .access = access};
  std::optional<CsvSource> source;
  try {
    source.emplace(options);
  } catch (const Error& error) {
    REQUIRE((!lines || lines->empty()));
    REQUIRE(error.code() == Errc::corrupt);
    return;
  }
  REQUIRE(lines);
  REQUIRE(source->size() == lines->size());
  for (std::size_t i = 0; i < lines->size(); ++i) {
    const Line& line = (*lines)[i];
    const std::string number = std::to_string(line.number);
    REQUIRE(source->key(i) == "t.csv:" + std::string(8 - number.size(), '0') + number);
    if (line.cells.size() == lines->front().cells.size()) {
      REQUIRE(read_text(*source, i, "0") == line.cells[0]);
    } else {
      REQUIRE(
          mentions(error_of([&] { (void)read_text(*source, i, "0"); }), std::to_string(line.cells.size()) + " cells"));
    }
  }
}

}  // namespace

TEST_CASE("any text is read as the model reads it") {
  const TempFolder folder;
  std::mt19937 random(7);
  const std::string alphabet = "a1\"\"\",,\n\n\r ";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t length = random() % 40;
    for (std::size_t i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
    INFO("round " << round << ": " << text);
    compare(folder, text, round % 2 == 0 ? FileAccess::read : FileAccess::map);
  }
}

TEST_CASE("tables larger than what is looked at at once are read whole") {
  // Quotes, line ends and byte pairs fall on every place of the window's end, as lengths differ.
  const TempFolder folder;
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    std::string text;
    std::vector<std::string> first;
    while (text.size() < (9u << 20)) {
      std::string cell;
      const std::size_t length = random() % 20 == 0 ? random() % 300'000 : random() % 30;
      for (std::size_t i = 0; i < length; ++i) cell += random() % 5 == 0 ? "\",\n\r"[random() % 4] : 'x';
      text += '"';
      for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += "\",2";
      text += random() % 2 == 0 ? "\r\n" : "\n";
      first.push_back(std::move(cell));
    }
    folder.write("big.csv", text);
    const CsvSource source({.path = folder / "big.csv",
                            .columns = {{"0", CsvType::text}, {"1", CsvType::number, DType::u8}},
                            .header = false,
                            .access = seed == 2 ? FileAccess::read : FileAccess::map});
    REQUIRE(source.size() == first.size());
    const auto reader = source.open_reader();
    for (std::size_t i = 0; i < first.size(); ++i) {
      OwnedSample sample(source.schema());
      SampleBuilder out = sample.builder();
      reader->read(i, out);
      REQUIRE(text_of(sample["0"]) == first[i]);
    }
  }
}

TEST_CASE("a record may lie across the end of what is looked at at once, at each of its bytes") {
  const TempFolder folder;
  constexpr std::size_t window = std::size_t{4} << 20;
  const std::string record = "\"x\n\"\"y\",7\r\n";
  for (std::size_t inside = 0; inside <= record.size(); ++inside) {
    std::string text(window - inside, '3');
    for (std::size_t i = 1; i < text.size(); i += 2) text[i] = i % 64 == 1 ? '\n' : text[i];
    text.back() = '\n';
    text += record + record + "8,9\n";
    folder.write("t.csv", text);
    const CsvSource source({.path = folder / "t.csv", .columns = {{"0", CsvType::text}}, .header = false});
    INFO(inside << " bytes before the end");
    REQUIRE(source.size() == static_cast<std::uint64_t>(model(text)->size()));
    // The first lines have one column; what is looked at here is where records begin.
    CHECK(error_of([&] { (void)read_sample(source, source.size() - 3); }).cause().find("2 cells") != std::string::npos);
    CHECK(error_of([&] { (void)read_sample(source, source.size() - 2); }).cause().find("2 cells") != std::string::npos);
  }
}

TEST_CASE("numbers survive being written and read") {
  const TempFolder folder;
  std::mt19937_64 random(11);
  std::string text = "i,f,d\n";
  std::vector<std::int64_t> integers;
  std::vector<float> floats;
  std::vector<double> doubles;
  for (int i = 0; i < 2000; ++i) {
    integers.push_back(static_cast<std::int64_t>(random()));
    const auto bits32 = static_cast<std::uint32_t>(random());
    const std::uint64_t bits64 = random();
    float f = 0;
    double d = 0;
    std::memcpy(&f, &bits32, sizeof f);
    std::memcpy(&d, &bits64, sizeof d);
    floats.push_back(std::isnan(f) ? 1.f : f);
    doubles.push_back(std::isnan(d) ? 1. : d);
    char line[120];
    std::snprintf(line, sizeof line, "%lld,%.9g,%.17g\n", static_cast<long long>(integers.back()),
                  static_cast<double>(floats.back()), doubles.back());
    text += line;
  }
  folder.write("n.csv", text);
  const CsvSource source({.path = folder / "n.csv", .columns = {{"i"}, {"f", CsvType::number, DType::f32}, {"d"}}});
  CHECK(source.schema().to_string() == "{i: i64[], f: f32[], d: f64[]}");
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    REQUIRE(*sample["i"].as<std::int64_t, 0>().data() == integers[i]);
    REQUIRE(*sample["f"].as<float, 0>().data() == floats[i]);
    REQUIRE(*sample["d"].as<double, 0>().data() == doubles[i]);
  }
}
