// SPDX-License-Identifier: Apache-2.0
// Writes rows as a table for people and as JSON for programs.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "harness.hpp"

namespace penstock::bench {

// Returns a line such as "lemon, 2 x Intel Xeon @ 2.80GHz, Linux 6.1, 2025-11-21 10:30 UTC, g++ 12.2".
std::string machine_line();

void print_row(const Row& row, const Settings& settings);
void print_header();

// Writes an array of objects. Each has the results: name, ours, limit, ratio, goal, unit, and rounds. Each also has how
// the results came about: what, better ("higher" or "lower"), judged ("ratio" or "ours"), ok (null if nothing was
// judged), low, high, cpu_ratio, dropped, quiet, notes, machine.
void write_json(const std::filesystem::path& file, std::span<const Row> rows, const Settings& settings);

}  // namespace penstock::bench
