// SPDX-License-Identifier: Apache-2.0
// A dataset of 12 rows of 2 numbers in a main file, whose values lie in others; and what a test asks of it.
#pragma once

#include <penstock/sources/hdf5.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sources/hdf5/elsewhere_files.hpp"
#include "sources/temp_folder.hpp"

namespace penstock_test::elsewhere {

using Rows = std::set<std::uint64_t>;
using Values = std::vector<std::int32_t>;

constexpr std::uint64_t rows = 12, width = 2, of_part = 4;
constexpr std::size_t row_bytes = width * sizeof(std::int32_t), part_bytes = of_part * row_bytes;

Rows from_to(std::uint64_t first, std::uint64_t end);
// The value of each element of the whole is its number, beginning with 1: none is the fill value.
std::int32_t value_at(std::uint64_t row, std::uint64_t column);

// Values of source number `part`.
using Part = std::function<Values(std::uint64_t part)>;
Values part_of_rows(std::uint64_t part);

// As many of these rows.
H5Data data_of(const std::string& path, Values values, std::uint64_t columns, std::uint64_t keep_rows);
// "s1.h5"
std::string source_name(std::uint64_t part);

// A main file over sources s0, s1, s2.
struct Kind {
  const char* name;
  std::function<void(hid_t main)> write_main;
  // Rows that are lost with s1, and with the latter half of its rows.
  Rows lost, lost_half;
  Part part = part_of_rows;
  std::uint64_t parts = 3, columns = width, part_rows = of_part;
  bool nested = false, grows = false;
  bool numbered = false;  // without s1 the file is refused
};

std::vector<Kind> kinds();
H5Virtual in_blocks();
// Files s0, s1 and s2, all of whose sources have a number in their names; and a virtual dataset of mid.h5.
void write_numbered(hid_t main);
void write_nested(hid_t main);
void write_source(const TempFolder& folder, const Kind& kind, std::uint64_t part, const std::string& dataset = "x",
                  std::uint64_t keep_rows = rows);
// main.h5, and all that its values lie in.
void write_all(const TempFolder& folder, const Kind& kind);

// Raw files r0, r1 and r2, and a file over them; `where` is before their names.
void write_over_raw(const std::string& main, const std::string& where);
void write_raw_files(const TempFolder& folder);

bool any_mentions(const std::vector<std::string>& lines, const std::string& word);
// Every row is right, or an error of one sample that names the file; and which rows are which.
void check_rows(const penstock::Hdf5Source& source, const Rows& lost, const std::string& file,
                std::uint64_t count = rows);

}  // namespace penstock_test::elsewhere
