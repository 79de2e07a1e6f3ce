// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "rows.hpp"
#include "text_lines.hpp"

namespace penstock::bench {

namespace {

constexpr std::size_t columns = 16;

// Returns a table of random numbers with six digits.
std::string number_table(std::uint64_t records) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> value(-1000, 1000);
  std::string text;
  for (std::size_t c = 0; c < columns; ++c) text += fmt::format("{}c{}", c == 0 ? "" : ",", c);
  text += '\n';
  for (std::uint64_t i = 0; i < records; ++i)
    for (std::size_t c = 0; c < columns; ++c)
      text += fmt::format("{:.6g}{}", value(random), c + 1 < columns ? ',' : '\n');
  return text;
}

// Returns where each line after the first line begins.
std::vector<const char*> lines_of(const std::string& text) {
  std::vector<const char*> begins;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();
       (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr;)
    if (++at != end) begins.push_back(at);
  return begins;
}

}  // namespace

Row csv_vs_from_chars(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 1'000 : 100'000, epochs = settings.quick ? 2 : 20;
  const std::string text = number_table(records);
  CsvVector x{.field = "x", .columns = {}};
  for (std::size_t c = 0; c < columns; ++c) x.columns.push_back(fmt::format("c{}", c));
  const std::string path = write_text(settings, fmt::format("numbers-{}.csv", records), text);
  const Pipeline pipeline = from(Csv{.path = path, .vectors = {x}}) | shuffle() | batch(batch_rows);

  const std::vector<const char*> lines = lines_of(text);
  const char* const end = text.data() + text.size();
  Row row = against_parser(spec, settings, pipeline, epochs, columns, [&](std::uint64_t record, float* out) {
    parse_numbers(lines[record], end, columns, 1, out);
  });
  row.notes.push_back(fmt::format("{} records of {} columns, {} bytes each", records, columns, text.size() / records));
  return row;
}

}  // namespace penstock::bench
