// SPDX-License-Identifier: Apache-2.0
// Rows as a table for people and as JSON for programs.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "harness.hpp"

namespace penstock::bench {

// "lemon, 2 x Intel Xeon @ 2.80GHz, Linux 6.1, 2025-11-21 10:30 UTC, g++ 12.2"
std::string machine_line();

void print_row(const Row& row, const Settings& settings);
void print_header();

// An array of objects: name, ours, limit, ratio, goal, unit, rounds (of `ratio` unless `judged` says "ours"), and what
// says how they came about: what, better ("higher" or "lower"), judged, ok (null when nothing was judged), low, high,
// cpu_ratio, dropped, quiet, notes, machine.
void write_json(const std::filesystem::path& file, std::span<const Row> rows, const Settings& settings);

}  // namespace penstock::bench
