// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/json_lines.hpp>

#include "rows.hpp"
#include "text_lines.hpp"

namespace penstock::bench {

namespace {

constexpr std::size_t elements = 16;

// Returns objects with an array of random numbers with six digits. `arrays` becomes where each array's first number is.
std::string array_lines(std::uint64_t records, std::vector<std::size_t>& arrays) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> value(-1000, 1000);
  std::string text;
  for (std::uint64_t i = 0; i < records; ++i) {
    text += fmt::format("{{\"id\": {}, \"x\": [", i);
    arrays.push_back(text.size());
    for (std::size_t e = 0; e < elements; ++e) text += fmt::format("{}{:.6g}", e == 0 ? "" : ", ", value(random));
    text += "], \"source\": \"random\"}\n";
  }
  return text;
}

}  // namespace

Row json_lines_vs_parse(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 1'000 : 100'000, epochs = settings.quick ? 2 : 20;
  std::vector<std::size_t> arrays;
  const std::string text = array_lines(records, arrays);
  const JsonField x{.member = "x", .shape = {static_cast<std::int64_t>(elements)}};
  const std::string path = write_text(settings, fmt::format("arrays-{}.jsonl", records), text);
  const Pipeline pipeline = from(JsonLines{.path = path, .fields = {x}}) | shuffle() | batch(batch_rows);

  const char* const end = text.data() + text.size();
  Row row = against_parser(spec, settings, pipeline, epochs, elements, [&](std::uint64_t record, float* out) {
    parse_numbers(text.data() + arrays[record], end, elements, 2, out);
  });
  row.notes.push_back(fmt::format("{} records of {} numbers, {} bytes each", records, elements, text.size() / records));
  return row;
}

}  // namespace penstock::bench
