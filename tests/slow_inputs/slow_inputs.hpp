// SPDX-License-Identifier: Apache-2.0
// Inputs that are small and could cost much. What is done with each is measured at one size and at four times that
// size: its time and memory must grow as the input does, and stay below a bound. Where time seems not to, sixteen
// times that size decides.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "sources/temp_folder.hpp"

namespace penstock_test {

// What one parser may take for any input of its table, at the larger size.
struct Bounds {
  double seconds;    // of all cores together
  double megabytes;  // beyond what the process has before
};

struct SlowInput {
  std::string name;
  std::size_t size;  // n; measured with n and 4 n
  // Makes the input of size n, in a process of its own.
  std::function<void(const TempFolder& folder, std::size_t n)> make;
  // Does with it what a loader or the tool would do, in another process, often as many times as it takes to measure it.
  std::function<void(const TempFolder& folder)> use;
  // How `use` ends: the Error it throws; none where it takes the input.
  std::optional<penstock::Errc> refused = {};
};

// What is wrong with one input, in words; empty where all is well.
std::vector<std::string> faults_of(const SlowInput& input, const Bounds& bounds);

// Checks each input of a table, and prints a line of what it took.
void check_inputs(std::string_view parser, const Bounds& bounds, const std::vector<SlowInput>& inputs);

// Text `n` times over.
inline std::string times(std::size_t n, std::string_view text) {
  std::string all;
  all.reserve(n * text.size());
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}

// A file of the folder, in memory of its size.
inline std::string content_of(const TempFolder& folder, std::string_view name) {
  std::string bytes(std::filesystem::file_size(folder / name), '\0');
  std::ifstream(folder / name, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace penstock_test
