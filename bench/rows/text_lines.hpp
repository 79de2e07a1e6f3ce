// SPDX-License-Identifier: Apache-2.0
// What rows of text files share: records of a few floats, against a loop that parses them by hand.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>

#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

// Writes the text to a file of this name below `settings.data`, and returns the file's path.
inline std::string write_text(const Settings& settings, const std::string& name, const std::string& text) {
  const std::filesystem::path file = settings.data / name;
  std::filesystem::create_directories(settings.data);
  std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  return file.string();
}

// Parses `count` numbers, each of which is `apart` characters after the end of the number before it.
inline void parse_numbers(const char* at, const char* end, std::size_t count, std::ptrdiff_t apart, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto [after, failed] = std::from_chars(at, end, out[i]);
    if (failed != std::errc()) throw std::runtime_error("the generated text has no number where one is expected");
    at = after + apart;
  }
}

// Compares batches of `pipeline` with a loop. The loop calls parse(record, out), which writes `numbers` floats.
template <class Parse>
Row against_parser(const RowSpec& spec, const Settings& settings, const Pipeline& pipeline, std::uint64_t epochs,
                   std::size_t numbers, const Parse& parse) {
  const std::vector<std::uint64_t> order = order_of(pipeline, epochs);
  const Ring ring(numbers * sizeof(float), batch_rows, ring_depth);
  const auto by_hand = [&] {
    return raw_loop(settings.threads, order.size(), [&] {
      return [&](std::uint64_t ticket) { parse(order[ticket], reinterpret_cast<float*>(ring.row(ticket))); };
    });
  };
  const auto rate = [&](Timing timing) {
    timing.value = static_cast<double>(order.size()) / timing.value;
    return timing;
  };
  const Executor executor(settings.threads);
  return compare(
      spec, settings, [&] { return rate(time_loader(pipeline, executor, settings.threads, epochs)); },
      [&] { return rate(by_hand()); });
}

}  // namespace penstock::bench
