// SPDX-License-Identifier: Apache-2.0
// CSV files of many columns, many records, and long cells.
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

std::string names(std::size_t n) {
  std::string line;
  for (std::size_t i = 0; i < n; ++i) line += (i == 0 ? "c" : ",c") + std::to_string(i);
  return line + "\n";
}

void columns(const TempFolder& folder, std::size_t n) {
  folder.write("a.csv", names(n) + "1" + times(n - 1, ",1") + "\n");
}

void text(const TempFolder& folder, const std::string& content) { folder.write("a.csv", content); }

void open_it(const TempFolder& folder) { (void)CsvSource({.path = folder / "a.csv"}).schema(); }

void read_all(const TempFolder& folder) {
  const CsvSource source({.path = folder / "a.csv"});
  for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
}

void read_numbers(const TempFolder& folder) {
  const CsvSource source({.path = folder / "a.csv", .columns = {{.column = "a", .type = CsvType::number}}});
  (void)read_sample(source, 0);
}

void load(const TempFolder& folder) {
  Loader loader(from(Csv{.path = folder / "a.csv"}) | batch(4));
  for (Batch& batch : loader.epoch()) (void)batch.size();
}

}  // namespace

TEST_CASE("CSV files take time and memory as they are large") {
  check_inputs("CSV", {.seconds = 1, .megabytes = 300},
               {
                   {.name = "n columns", .size = 5'000, .make = columns, .use = read_all},
                   {.name = "n columns in a loader", .size = 5'000, .make = columns, .use = load},
                   {.name = "n columns of one name",
                    .size = 10'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a" + times(n, ",a") + "\n"); },
                    .use = open_it,
                    .refused = Errc::invalid_argument},
                   {.name = "n records",
                    .size = 20'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a\n" + times(n, "1\n")); },
                    .use = open_it},
                   {.name = "n empty lines",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a\n1\n" + std::string(n, '\n')); },
                    .use = open_it},
                   {.name = "a cell of n quotes",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a\n\"" + times(n, "\"\"") + "\"\n"); },
                    .use = read_all},
                   {.name = "a number of n digits",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a\n0." + std::string(n, '1') + "\n"); },
                    .use = read_numbers},
                   {.name = "a number that is n letters",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, "a\n" + std::string(n, 'x') + "\n"); },
                    .use = read_numbers,
                    .refused = Errc::corrupt},
                   {.name = "a column whose name has n bytes, and another one",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { text(f, std::string(n, 'b') + ",c\n1,1\n"); },
                    .use = read_numbers,
                    .refused = Errc::invalid_argument},
               });
}

}  // namespace PENSTOCK_TEST_FILE
