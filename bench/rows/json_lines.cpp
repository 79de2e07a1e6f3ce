// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/json_lines.hpp>

#include "../raw_loop.hpp"
#include "rows.hpp"

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

void parse_array(const char* at, const char* end, float* out) {
  for (std::size_t e = 0; e < elements; ++e) {
    const auto [after, failed] = std::from_chars(at, end, out[e]);
    if (failed != std::errc()) throw std::runtime_error("an element of the generated lines is no number");
    at = after + 2;
  }
}

}  // namespace

Row json_lines_vs_parse(const RowSpec& spec, const Settings& settings) {
  const std::uint64_t records = settings.quick ? 1'000 : 100'000, epochs = settings.quick ? 2 : 20;
  std::vector<std::size_t> arrays;
  const std::string text = array_lines(records, arrays);
  const std::filesystem::path file = settings.data / fmt::format("arrays-{}.jsonl", records);
  std::filesystem::create_directories(settings.data);
  std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  const JsonField x{.member = "x", .shape = {static_cast<std::int64_t>(elements)}};
  const Pipeline pipeline = from(JsonLines{.path = file.string(), .fields = {x}}) | shuffle() | batch(batch_rows);

  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const Ring ring(elements * sizeof(float), batch_rows, ring_depth);
  const char* const end = text.data() + text.size();
  const auto by_hand = [&] {
    return raw_loop(settings.threads, order.size(), [&] {
      return [&](std::uint64_t ticket) {
        parse_array(text.data() + arrays[order[ticket]], end, reinterpret_cast<float*>(ring.row(ticket)));
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
  row.notes.push_back(fmt::format("{} records of {} numbers, {} bytes each", records, elements, text.size() / records));
  return row;
}

}  // namespace penstock::bench
