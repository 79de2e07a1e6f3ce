// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/source/elsewhere.hpp"

#include <algorithm>
#include <filesystem>

#include <penstock/penstock.hpp>

#include "sources/source_checks.hpp"
#include "support/catch.hpp"

namespace penstock_test::elsewhere {

using namespace penstock;

namespace {

H5Mapping rows_of(std::uint64_t part) {
  return {.file = source_name(part),
          .dataset = "x",
          .to = {{part * of_part, 0}, {of_part, width}},
          .source_shape = {of_part, width}};
}

void write_with_parts_said(hid_t main) {
  H5Virtual data = in_blocks();
  for (H5Mapping& mapping : data.mappings) mapping.from = {{0, 0}, {of_part, width}};
  write_virtual(main, data);
}

void write_in_turn(hid_t main) {
  H5Virtual data = in_blocks();
  for (std::uint64_t part = 0; part < 3; ++part) data.mappings[part].to = {{part, 0}, {of_part, 1}, {3, 1}, {1, width}};
  write_virtual(main, data);
}

Values part_in_turn(std::uint64_t part) {
  Values values;
  for (std::uint64_t row = part; row < rows; row += 3)
    for (std::uint64_t column = 0; column < width; ++column) values.push_back(value_at(row, column));
  return values;
}

void write_columns(hid_t main) {
  H5Virtual data{.path = "v", .shape = {rows, width}, .mappings = {}};
  for (std::uint64_t part = 0; part < width; ++part)
    data.mappings.push_back(
        {.file = source_name(part), .dataset = "x", .to = {{0, part}, {rows, 1}}, .source_shape = {rows, 1}});
  write_virtual(main, data);
}

void write_growing_columns(hid_t main) {
  H5Virtual data{.path = "v", .shape = {1, width}, .mappings = {}, .grows = true};
  for (std::uint64_t part = 0; part < width; ++part)
    data.mappings.push_back({.file = source_name(part),
                             .dataset = "x",
                             .to = {{0, part}, {H5S_UNLIMITED, 1}},
                             .source_shape = {1, 1},
                             .from = {{0, 0}, {H5S_UNLIMITED, 1}},
                             .source_grows = true});
  write_virtual(main, data);
}

Values column(std::uint64_t part) {
  Values values;
  for (std::uint64_t row = 0; row < rows; ++row) values.push_back(value_at(row, part));
  return values;
}

void write_raw(const TempFolder& folder, const std::string& name, std::uint64_t first, std::uint64_t end,
               std::size_t offset = 0) {
  Values values;
  for (std::uint64_t row = first; row < end; ++row)
    for (std::uint64_t column = 0; column < width; ++column) values.push_back(value_at(row, column));
  folder.write(name, std::string(offset, 'x') + bytes_of(values));
}

}  // namespace

Rows from_to(std::uint64_t first, std::uint64_t end) {
  Rows range;
  for (; first < end; ++first) range.insert(first);
  return range;
}

std::int32_t value_at(std::uint64_t row, std::uint64_t column) {
  return static_cast<std::int32_t>(row * width + column + 1);
}

Values part_of_rows(std::uint64_t part) {
  Values values;
  for (std::uint64_t row = part * of_part; row < (part + 1) * of_part; ++row)
    for (std::uint64_t column = 0; column < width; ++column) values.push_back(value_at(row, column));
  return values;
}

H5Data data_of(const std::string& path, Values values, std::uint64_t columns, std::uint64_t keep_rows) {
  values.resize(std::min<std::size_t>(values.size(), keep_rows * columns));
  H5Data data{.path = path, .type = h5_type<std::int32_t>(), .shape = {values.size() / columns, columns}};
  data.values = bytes_of(values);
  return data;
}

std::string source_name(std::uint64_t part) { return "s" + std::to_string(part) + ".h5"; }

H5Virtual in_blocks() {
  return {.path = "v", .shape = {rows, width}, .mappings = {rows_of(0), rows_of(1), rows_of(2)}};
}

void write_numbered(hid_t main) {
  write_virtual(main, {.path = "v",
                       .shape = {of_part, width},
                       .mappings = {{.file = "s%b.h5",
                                     .dataset = "x",
                                     .to = {{0, 0}, {H5S_UNLIMITED, 1}, {of_part, 1}, {of_part, width}},
                                     .source_shape = {of_part, width}}},
                       .grows = true});
}

void write_nested(hid_t main) {
  write_virtual(
      main,
      {.path = "v",
       .shape = {rows, width},
       .mappings = {{.file = "mid.h5", .dataset = "v", .to = {{0, 0}, {rows, width}}, .source_shape = {rows, width}}}});
}

std::vector<Kind> kinds() {
  return {{.name = "blocks of rows",
           .write_main = [](hid_t main) { write_virtual(main, in_blocks()); },
           .lost = from_to(4, 8),
           .lost_half = from_to(6, 8)},
          {.name = "blocks of rows, of a part of each source",
           .write_main = write_with_parts_said,
           .lost = from_to(4, 8),
           .lost_half = from_to(6, 8)},
          {.name = "a row of each in turn",
           .write_main = write_in_turn,
           .lost = {1, 4, 7, 10},
           .lost_half = {7, 10},
           .part = part_in_turn},
          {.name = "a column of each",
           .write_main = write_columns,
           .lost = from_to(0, rows),
           .lost_half = from_to(6, rows),
           .part = column,
           .parts = 2,
           .columns = 1,
           .part_rows = rows},
          {.name = "columns that grow",
           .write_main = write_growing_columns,
           .lost = from_to(0, rows),
           .lost_half = from_to(6, rows),
           .part = column,
           .parts = 2,
           .columns = 1,
           .part_rows = rows,
           .grows = true},
          {.name = "files by number",
           .write_main = write_numbered,
           .lost = from_to(4, 8),
           .lost_half = from_to(6, 8),
           .numbered = true},
          {.name = "a virtual dataset of a virtual dataset",
           .write_main = write_nested,
           .lost = from_to(4, 8),
           .lost_half = from_to(6, 8),
           .nested = true}};
}

void write_source(const TempFolder& folder, const Kind& kind, std::uint64_t part, const std::string& dataset,
                  std::uint64_t keep_rows) {
  const std::string path = folder / source_name(part);
  std::filesystem::remove(path);
  H5Data data = data_of(dataset, kind.part(part), kind.columns, keep_rows);
  if (kind.grows) {
    data.layout = H5D_CHUNKED;
    data.chunk = {2, kind.columns};
    data.resizable = true;
  }
  write_h5(path, {.data = {data}});
}

void write_all(const TempFolder& folder, const Kind& kind) {
  for (std::uint64_t part = 0; part < kind.parts; ++part) write_source(folder, kind, part);
  if (kind.nested) write_virtual(create_h5(folder / "mid.h5"), in_blocks());
  kind.write_main(create_h5(folder / "main.h5"));
}

bool any_mentions(const std::vector<std::string>& lines, const std::string& word) {
  for (const std::string& line : lines)
    if (line.find(word) != std::string::npos) return true;
  return false;
}

void check_rows(const Hdf5Source& source, const Rows& lost, const std::string& file, std::uint64_t count) {
  REQUIRE(source.size() == count);
  Rows bad;
  for (std::uint64_t row = 0; row < count; ++row) try {
      const OwnedSample sample = read_sample(source, row);
      INFO("row " << row);
      const auto* const values = reinterpret_cast<const std::int32_t*>(sample["v"].data);
      CHECK(Values(values, values + width) == Values{value_at(row, 0), value_at(row, 1)});
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.sample_scoped());
      CHECK(error.cause().find(file) != std::string::npos);
      CHECK(error.cause().find("row " + std::to_string(row)) != std::string::npos);
      CHECK(error.cause().find("dataset 'v'") != std::string::npos);
      bad.insert(row);
    }
  CHECK(bad == lost);
  CHECK(source.faults().empty() == lost.empty());
  CHECK(any_mentions(source.faults(), file) != lost.empty());
  CHECK(any_mentions(source.notes(), file));
}

void write_over_raw(const std::string& main, const std::string& where) {
  write_external(create_h5(main), "v", h5_type<std::int32_t>(), {rows, width},
                 {{where + "r0", 0, part_bytes}, {where + "r1", 100, part_bytes}, {where + "r2", 0, H5F_UNLIMITED}});
}

void write_raw_files(const TempFolder& folder) {
  write_raw(folder, "r0", 0, 4);
  write_raw(folder, "r1", 4, 8, 100);
  write_raw(folder, "r2", 8, 12);
}

}  // namespace penstock_test::elsewhere
