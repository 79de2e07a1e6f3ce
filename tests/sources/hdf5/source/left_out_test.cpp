// SPDX-License-Identifier: Apache-2.0
// Places of a dataset that nobody wrote, or that lie in no source of a virtual one: they are the fill value, whatever
// is in memory, though the HDF5 library leaves some of them as they are there.
#include <penstock/sources/hdf5.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sources/hdf5/elsewhere_files.hpp"
#include "sources/hdf5/source/elsewhere.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::elsewhere;

namespace {

constexpr std::int32_t mark = 9;
const std::vector<char> fill_of_mark{mark, 0, 0, 0};

H5Mapping rows_of(const std::string& file, const std::string& dataset, hsize_t to, hsize_t count) {
  return {.file = file, .dataset = dataset, .to = {{to, 0}, {count, width}}, .source_shape = {count, width}};
}

// Rows 0 to 3 of s0, 4 to 7 of s1 and again of s2, so that as many values are mapped as there are; 8 to 11 of none.
H5Virtual overlapping(const std::string& path, std::vector<char> fill) {
  return {.path = path,
          .shape = {rows, width},
          .mappings = {rows_of("s0.h5", "x", 0, of_part), rows_of("s1.h5", "x", of_part, of_part),
                       rows_of("s2.h5", "x", of_part, of_part)},
          .fill = std::move(fill)};
}

void write_sources(const TempFolder& folder) {
  for (const std::uint64_t part : {0U, 1U, 2U})
    write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part == 2 ? 1 : part), width, of_part)}});
}

// Over memory that has something else in it.
std::optional<std::int32_t> first_of(const Hdf5Source& source, std::uint64_t row, std::uint64_t first,
                                     std::uint64_t count) {
  std::vector<std::byte> out(count * row_bytes, std::byte{0x55});
  try {
    source.read_rows(0, first, count, out);
  } catch (const Error& error) {
    CHECK(error.code() == Errc::corrupt);
    return std::nullopt;
  }
  std::int32_t value = 0;
  std::memcpy(&value, out.data() + (row - first) * row_bytes, sizeof value);
  return value;
}

// The first value of each row, however it is read: alone, all together, or in batches of five.
void check_firsts(const std::string& path, const std::function<std::optional<std::int32_t>(std::uint64_t)>& expected,
                  bool together = true) {
  for (const bool isolate : {false, true})
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      const Hdf5Source source({.path = path, .max_kept_bytes = keep_bytes, .isolate = isolate});
      for (std::uint64_t row = 0; row < rows; ++row) {
        INFO("row " << row << (isolate ? ", isolated" : "") << ", kept " << keep_bytes);
        CHECK(first_of(source, row, row, 1) == expected(row));
        if (!together) continue;
        CHECK(first_of(source, row, 0, rows) == expected(row));
        CHECK(first_of(source, row, row / 5 * 5, std::min<std::uint64_t>(5, rows - row / 5 * 5)) == expected(row));
      }
    }
}

}  // namespace

TEST_CASE("rows in no source are the fill value also where other sources overlap") {
  for (const std::vector<char>& fill : {fill_of_mark, std::vector<char>{}}) {
    const TempFolder folder;
    write_sources(folder);
    write_virtual(create_h5(folder / "main.h5"), overlapping("v", fill));
    check_firsts(folder / "main.h5",
                 [&](std::uint64_t row) { return row >= 2 * of_part ? (fill.empty() ? 0 : mark) : value_at(row, 0); });
    const Hdf5Source source({.path = folder / "main.h5"});
    CHECK(source.faults().empty());
    CHECK(any_mentions(source.notes(), "rows 8 to 11 lie in no source: they are the fill value"));
  }
}

TEST_CASE(
    "what a virtual dataset of a virtual one leaves out is its fill value, or lost where the library forgets it") {
  for (const bool same : {true, false}) {
    const TempFolder folder;
    write_sources(folder);
    write_virtual(create_h5(folder / "mid.h5"), overlapping("m", fill_of_mark));
    write_virtual(create_h5(folder / "main.h5"), {.path = "v",
                                                  .shape = {rows, width},
                                                  .mappings = {rows_of("mid.h5", "m", 0, rows)},
                                                  .fill = same ? fill_of_mark : std::vector<char>{}});
    INFO((same ? "the same fill value" : "another one"));
    check_firsts(
        folder / "main.h5",
        [&](std::uint64_t row) -> std::optional<std::int32_t> {
          if (!same) return std::nullopt;
          return row >= 2 * of_part ? mark : value_at(row, 0);
        },
        same);
    CHECK(any_mentions(Hdf5Source({.path = folder / "main.h5"}).faults(), "leave places out") != same);
  }
}

TEST_CASE("texts in no source are the fill value also where other sources overlap") {
  const TempFolder folder;
  const H5Type text{.kind = H5Type::Kind::text};
  const char* const words = "none";
  std::vector<char> fill(sizeof words);
  std::memcpy(fill.data(), &words, sizeof words);
  std::vector<std::string> expected;
  for (const char* const name : {"s0.h5", "s1.h5"}) {
    H5Data data{.path = "x", .type = text, .shape = {2}};
    data.seed = expected.size() + 1;
    write_h5(folder / name, {.data = {data}});
    const Hdf5Source source({.path = folder / name});
    for (std::uint64_t row = 0; row < 2; ++row) expected.emplace_back(text_of(read_sample(source, row)["x"]));
  }
  const auto part = [](const char* file, hsize_t to) {
    return H5Mapping{.file = file, .dataset = "x", .to = {{to}, {2}}, .source_shape = {2}};
  };
  {
    const H5Id file = create_h5(folder / "main.h5");
    write_data(file, counting<std::int32_t>("n", {6}));
    write_virtual(file, {.path = "v",
                         .shape = {6},
                         .mappings = {part("s0.h5", 0), part("s1.h5", 2), part("s1.h5", 2)},
                         .type = text,
                         .fill = fill});
  }
  expected.insert(expected.end(), 2, words);
  // Keys are read many at a time, values one by one.
  const Hdf5Source source({.path = folder / "main.h5", .fields = {{"n"}}, .key = "v"});
  for (std::uint64_t row = 0; row < 6; ++row) CHECK(source.key(row) == expected[row]);
}

TEST_CASE("what was never written, and is not to be filled in, is zeros") {
  const TempFolder folder;
  {
    const H5Id file = create_h5(folder / "a.h5");
    const H5Id creation(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t shape[] = {rows, width}, chunk[] = {of_part, width}, first[] = {0, 0};
    h5_must(H5Pset_chunk(creation, 2, chunk));
    h5_must(H5Pset_scaleoffset(creation, H5Z_SO_INT, 0));
    h5_must(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
    const H5Id space(H5Screate_simple(2, shape, nullptr)), memory(H5Screate_simple(2, chunk, nullptr));
    const H5Id data(H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    h5_must(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, chunk, nullptr));
    const Values values = part_of_rows(0);
    h5_must(H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data()));
  }
  check_firsts(folder / "a.h5", [](std::uint64_t row) { return row < of_part ? value_at(row, 0) : 0; });
}

TEST_CASE("rows are kept also where a great many stretches of them are lost") {
  const TempFolder folder;
  constexpr hsize_t many = 400;
  H5Virtual data{.path = "v", .shape = {many, width}, .mappings = {}, .fill = fill_of_mark};
  std::vector<std::int32_t> values(many * width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i + 1);
  write_h5(folder / "s0.h5", {.data = {data_of("x", values, width, many)}});
  for (hsize_t row = 0; row < many; ++row) {
    H5Mapping mapping = rows_of("s0.h5", row % 2 == 0 ? "x" : "gone", row, 1);
    mapping.source_shape = {many, width};
    mapping.from = {{row, 0}, {1, width}};
    data.mappings.push_back(mapping);
  }
  write_virtual(create_h5(folder / "main.h5"), data);
  for (const bool isolate : {false, true}) {
    const Hdf5Source source({.path = folder / "main.h5", .isolate = isolate});
    for (std::uint64_t row = 0; row < many; ++row) {
      INFO("row " << row);
      const std::optional<std::int32_t> value = first_of(source, row, row, 1);
      CHECK(value == (row % 2 == 0 ? std::optional(static_cast<std::int32_t>(row * width + 1)) : std::nullopt));
    }
  }
}
