// SPDX-License-Identifier: Apache-2.0
// Decimals of all lengths against std::from_chars.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("decimals of all lengths have the bits that std::from_chars gives them") {
  const TempFolder folder;
  std::mt19937_64 random(3);
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
    // A whole number that is rounded is refused, but for one that was written as a float.
    if (cell.find_first_of(".e") == std::string::npos && whole > 7) cell += "e0";
    text += cell + (i % 4 == 3 ? "\n" : ",");
    cells.push_back(std::move(cell));
  }
  // Exactly half way between two floats, and next to that.
  for (const char* half : {"16777217.", "16777216.9999999999", "16777217.000000001", "33554434.0", "8388608.5",
                           "8388609.5", "8388609.49999999999", "1.00000005960464477539062", "9007199254740993e0",
                           "9007199254740992.9", "9007199254740993.1", "18014398509481986.0"}) {
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
