// SPDX-License-Identifier: Apache-2.0
// Virtual datasets whose sources are gone, moved, cut short, or hold something else.
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/source/elsewhere.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::elsewhere;

namespace {

struct Damage {
  const char* name;
  std::function<void(const TempFolder&, const Kind&)> act;
  bool half = false;
  bool missing = true;  // there is no such dataset, or none that can be opened
};

std::vector<Damage> damages() {
  return {
      {"gone", [](const TempFolder& folder, const Kind&) { std::filesystem::remove(folder / "s1.h5"); }},
      {"moved",
       [](const TempFolder& folder, const Kind&) {
         std::filesystem::create_directory(folder / "away");
         std::filesystem::rename(folder / "s1.h5", folder / "away/s1.h5");
       }},
      {"cut short",
       [](const TempFolder& folder, const Kind&) {
         std::filesystem::resize_file(folder / "s1.h5", std::filesystem::file_size(folder / "s1.h5") - 40);
       }},
      {"no HDF5 file", [](const TempFolder& folder, const Kind&) { folder.write("s1.h5", "something else"); }},
      {"a folder",
       [](const TempFolder& folder, const Kind&) {
         std::filesystem::remove(folder / "s1.h5");
         std::filesystem::create_directory(folder / "s1.h5");
       }},
      {"a pipe",
       [](const TempFolder& folder, const Kind&) {
         std::filesystem::remove(folder / "s1.h5");
         REQUIRE(::mkfifo((folder / "s1.h5").c_str(), 0600) == 0);
       }},
      {"with another name of the dataset",
       [](const TempFolder& folder, const Kind& kind) { write_source(folder, kind, 1, "y"); }},
      {"with fewer rows",
       [](const TempFolder& folder, const Kind& kind) { write_source(folder, kind, 1, "x", kind.part_rows / 2); }, true,
       false},
      {"of three dimensions",
       [](const TempFolder& folder, const Kind&) {
         std::filesystem::remove(folder / "s1.h5");
         write_h5(folder / "s1.h5", {.data = {counting<std::int32_t>("x", {1, 1, 5})}});
       },
       false, false},
      {"of fewer columns",
       [](const TempFolder& folder, const Kind& kind) {
         std::filesystem::remove(folder / "s1.h5");
         write_h5(folder / "s1.h5", {.data = {counting<std::int32_t>("x", {3, kind.columns - 1})}});
       },
       false, false},
  };
}

}  // namespace

TEST_CASE("rows of a virtual dataset are right, or bad by the name of the file that lacks them") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    for (const Damage& damage : damages()) {
      const TempFolder folder;
      write_all(folder, kind);
      for (const bool broken : {false, true})
        for (const bool isolate : {false, true})
          for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
            INFO((broken ? damage.name : "whole") << (isolate ? ", isolated" : "") << ", kept " << keep_bytes);
            if (broken && !isolate && keep_bytes == 0) damage.act(folder, kind);
            // Another process costs time.
            if (isolate && (keep_bytes != 0 || (!damage.half && damage.name != std::string("gone")))) continue;
            const Hdf5 options{.path = folder / "main.h5", .max_kept_bytes = keep_bytes, .isolate = isolate};
            if (broken && kind.numbered && damage.missing) {
              const Error error = error_of([&] { Hdf5Source{options}; });
              INFO(error.what());
              CHECK(error.code() == Errc::not_found);
              CHECK(error.cause().find("s1.h5") != std::string::npos);
              continue;
            }
            Rows lost;
            if (broken) lost = damage.half ? kind.lost_half : kind.lost;
            check_rows(Hdf5Source(options), lost, "s1.h5");
          }
    }
  }
}

TEST_CASE("rows that a virtual dataset has of no source are its fill value, and told") {
  const TempFolder folder;
  H5Virtual data = in_blocks();
  data.mappings.erase(data.mappings.begin() + 1);
  data.fill = {9, 0, 0, 0};
  write_virtual(create_h5(folder / "main.h5"), data);
  for (const std::uint64_t part : {0U, 2U})
    write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part), width, rows)}});
  for (const bool isolate : {false, true}) {
    const Hdf5Source source({.path = folder / "main.h5", .isolate = isolate});
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::int32_t first = *reinterpret_cast<const std::int32_t*>(read_sample(source, row)["v"].data);
      CHECK(first == (row / of_part == 1 ? 9 : value_at(row, 0)));
    }
    CHECK(source.faults().empty());
    CHECK(any_mentions(source.notes(), "rows 4 to 7 lie in no source"));
    CHECK(any_mentions(source.notes(), "2 other files"));
    CHECK(source.fields().front().other_files.size() == 2);
  }
}

TEST_CASE("a virtual dataset whose rows nobody can count is refused by the source that is missing") {
  const TempFolder folder;
  Kind kind = kinds()[5];
  REQUIRE(kind.numbered);
  write_all(folder, kind);
  // The last one is no gap: the dataset ends there.
  std::filesystem::remove(folder / "s2.h5");
  {
    const Hdf5Source shorter({.path = folder / "main.h5"});
    CHECK(shorter.size() == 8);
    CHECK(any_mentions(shorter.notes(), "it ends before dataset 'x' of 's2.h5'"));
  }
  std::filesystem::remove(folder / "s0.h5");
  std::filesystem::remove(folder / "s1.h5");
  const auto refused = [&] {
    const Error error = error_of([&] { Hdf5Source({.path = folder / "main.h5"}); });
    INFO(error.what());
    CHECK(error.code() == Errc::not_found);
    CHECK(mentions(error, "how many rows it has can't be told"));
    CHECK(mentions(error, "s0.h5"));
  };
  refused();
  write_virtual(create_h5(folder / "main.h5"), {.path = "v",
                                                .shape = {1, width},
                                                .mappings = {{.file = "s0.h5",
                                                              .dataset = "x",
                                                              .to = {{0, 0}, {H5S_UNLIMITED, width}},
                                                              .source_shape = {1, width},
                                                              .from = {{0, 0}, {H5S_UNLIMITED, width}},
                                                              .source_grows = true}},
                                                .grows = true});
  refused();
}

TEST_CASE("a virtual dataset of one that grows with its files has the rows of these") {
  const TempFolder folder;
  Kind kind = kinds()[5];
  kind.write_main = write_nested;
  write_all(folder, kind);
  write_numbered(create_h5(folder / "mid.h5"));
  const auto check = [&](const Rows& lost) {
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20})
      check_rows(Hdf5Source({.path = folder / "main.h5", .max_kept_bytes = keep_bytes}), lost, "s1.h5");
  };
  check({});
  write_source(folder, kind, 1, "x", of_part / 2);
  check(from_to(6, 8));
  std::filesystem::remove(folder / "s1.h5");
  check(from_to(0, rows));
}

TEST_CASE("where no more files can be opened, rows of a virtual dataset are errors") {
  const TempFolder folder;
  constexpr std::uint64_t parts = 60;
  H5Virtual data{.path = "v", .shape = {parts, width}, .mappings = {}};
  for (std::uint64_t part = 0; part < parts; ++part) {
    write_h5(folder / source_name(part), {.data = {counting<std::int32_t>("x", {1, width}, 1)}});
    data.mappings.push_back(
        {.file = source_name(part), .dataset = "x", .to = {{part, 0}, {1, width}}, .source_shape = {1, width}});
  }
  write_virtual(create_h5(folder / "main.h5"), data);
  const Hdf5Source source({.path = folder / "main.h5", .max_kept_bytes = 0});
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  rlimit few = usual;
  few.rlim_cur = 40;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::uint64_t right = 0, errors = 0;
  for (std::uint64_t row = 0; row < parts; ++row) try {
      right += *reinterpret_cast<const std::int32_t*>(read_sample(source, row)["v"].data) == 1 ? 1 : 0;
    } catch (const Error& error) {
      errors += error.code() == Errc::io ? 1 : 0;
    }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(errors != 0);
  CHECK(right != 0);
  CHECK(right + errors == parts);
}

TEST_CASE("a virtual dataset that is made of itself is refused row by row") {
  const TempFolder folder;
  H5Virtual data = in_blocks();
  data.mappings[1].file = "main.h5";
  data.mappings[1].dataset = "v";
  data.mappings[1].source_shape = {rows, width};
  data.mappings[1].from = {{4, 0}, {of_part, width}};
  for (const bool by_name : {true, false}) {
    if (!by_name) data.mappings[1].file = ".";
    write_virtual(create_h5(folder / "main.h5"), data);
    for (const std::uint64_t part : {0U, 2U})
      write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part), width, rows)}});
    check_rows(Hdf5Source({.path = folder / "main.h5"}), from_to(4, 8), "");
  }
}

TEST_CASE("values of a source of another type are right, or errors of their rows") {
  const TempFolder folder;
  write_virtual(create_h5(folder / "main.h5"), in_blocks());
  for (const std::uint64_t part : {0U, 2U})
    write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part), width, rows)}});
  const auto with = [&]<class T>(const std::vector<T>& values) {
    H5Data data{.path = "x", .type = h5_type<T>(), .shape = {of_part, width}};
    data.values = bytes_of(values);
    std::filesystem::remove(folder / "s1.h5");
    write_h5(folder / "s1.h5", {.data = {data}});
    const Hdf5Source source({.path = folder / "main.h5"});
    CHECK(any_mentions(source.notes(), "1 of its sources have another type"));
    Rows bad;
    for (std::uint64_t row = 0; row < rows; ++row) try {
        const OwnedSample sample = read_sample(source, row);
        const auto* const got = reinterpret_cast<const std::int32_t*>(sample["v"].data);
        CHECK(Values(got, got + width) == Values{value_at(row, 0), value_at(row, 1)});
      } catch (const Error& error) {
        INFO(error.what());
        CHECK(error.sample_scoped());
        CHECK(mentions(error, "does not fit"));
        bad.insert(row);
      }
    return bad;
  };
  CHECK(with(std::vector<std::int16_t>{9, 10, 11, 12, 13, 14, 15, 16}).empty());
  CHECK(with(std::vector<double>{9, 10, 11, 12, 13, 14, 15, 16}).empty());
  CHECK(with(std::vector<double>{9, 10, 11, 12.5, 13, 14, 15, 1e12}) == Rows{5, 7});
  CHECK(with(std::vector<std::int64_t>{9, 10, 11, 12, 13, std::int64_t{14} << 40, 15, 16}) == Rows{6});
}

TEST_CASE("of a source of another type no number becomes another, no text is cut and no column made up") {
  const TempFolder folder;
  // Rows that can't be read of a virtual dataset of one source.
  const auto bad = [&](const H5Type& type, const H5Data& source) {
    std::filesystem::remove(folder / "s.h5");
    write_h5(folder / "s.h5", {.data = {source}});
    write_virtual(create_h5(folder / "main.h5"),
                  {.path = "v",
                   .shape = source.shape,
                   .mappings = {{.file = "s.h5", .dataset = source.path, .to = {}, .source_shape = source.shape}},
                   .type = type});
    const Hdf5Source opened({.path = folder / "main.h5"});
    Rows lost;
    for (std::uint64_t row = 0; row < opened.size(); ++row) try {
        read_sample(opened, row);
      } catch (const Error& error) {
        CHECK(error.sample_scoped());
        lost.insert(row);
      }
    return lost;
  };
  H5Data doubles{.path = "x", .type = h5_real(8), .shape = {6}};
  doubles.values = bytes_of(std::vector<double>{0.1, 1e300, NAN, INFINITY, -INFINITY, -1e300});
  CHECK(bad(h5_real(4), doubles) == Rows{1, 5});
  CHECK(bad(h5_real(8), doubles).empty());
  H5Type text{.kind = H5Type::Kind::fixed_text, .bytes = 4, .padding = H5T_STR_NULLPAD}, shorter = text;
  shorter.bytes = 3;
  H5Data texts{.path = "x", .type = text, .shape = {2}};
  texts.values = "abcdefgh";
  CHECK(bad(text, texts).empty());
  CHECK(bad(shorter, texts) == Rows{0, 1});
  const H5Type a = h5_compound({{"a", h5_integer(4, true)}});
  const H5Type both = h5_compound({{"a", h5_integer(4, true)}, {"b", h5_integer(4, true)}});
  CHECK(bad(a, {.path = "x", .type = both, .shape = {2}}).empty());
  CHECK(bad(both, {.path = "x", .type = a, .shape = {2}}) == Rows{0, 1});
}
