// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "../raw_loop.hpp"
#include "rows.hpp"

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

void parse_line(const char* at, const char* end, float* out) {
  for (std::size_t c = 0; c < columns; ++c) {
    const auto [after, failed] = std::from_chars(at, end, out[c]);
    if (failed != std::errc()) throw std::runtime_error("a cell of the generated table is no number");
    at = after + 1;
  }
}

}  // namespace

Row csv_vs_from_chars(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 1'000 : 100'000, epochs = settings.quick ? 2 : 20;
  const std::string text = number_table(records);
  const std::filesystem::path file = settings.data / fmt::format("numbers-{}.csv", records);
  std::filesystem::create_directories(settings.data);
  std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  CsvVector x{.field = "x", .columns = {}};
  for (std::size_t c = 0; c < columns; ++c) x.columns.push_back(fmt::format("c{}", c));
  const Pipeline pipeline = from(Csv{.path = file.string(), .vectors = {x}}) | shuffle() | batch(batch_rows);

  const std::vector<const char*> lines = lines_of(text);
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const Ring ring(columns * sizeof(float), batch_rows, ring_depth);
  const char* const end = text.data() + text.size();
  const auto by_hand = [&] {
    return raw_loop(settings.threads, order.size(), [&] {
      return [&](std::uint64_t ticket) {
        parse_line(lines[order[ticket]], end, reinterpret_cast<float*>(ring.row(ticket)));
      };
    });
  };
  const auto rate = [&](Timing timing) {
    timing.value = static_cast<double>(order.size()) / timing.value;
    return timing;
  };
  const Executor executor(settings.threads);
  Row row = compare(
      spec, settings, [&] { return rate(time_loader(pipeline, executor, settings.threads, epochs)); },
      [&] { return rate(by_hand()); });
  row.notes.push_back(fmt::format("{} records of {} columns, {} bytes each", records, columns, text.size() / records));
  return row;
}

}  // namespace penstock::bench
