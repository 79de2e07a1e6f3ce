// SPDX-License-Identifier: Apache-2.0
// Values in external raw files and behind links; where other files are looked for, and what a source is known by.
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/source/elsewhere.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::elsewhere;

TEST_CASE("rows in external raw files are right, or bad by the name of the file that lacks them") {
  const TempFolder folder;
  write_over_raw(folder / "main.h5", (folder.path() / "").string());
  const auto cut = [&](const char* name, std::size_t bytes) {
    return [&folder, name, bytes] { std::filesystem::resize_file(folder / name, bytes); };
  };
  const struct {
    const char *name, *file;
    std::function<void()> act;
    Rows lost;
  } cases[] = {
      {"whole", "r1", [] {}, {}},
      {"gone", "r1", [&] { std::filesystem::remove(folder / "r1"); }, from_to(4, 8)},
      {"moved", "r1", [&] { std::filesystem::rename(folder / "r1", folder / "moved"); }, from_to(4, 8)},
      {"cut in its offset", "r1", cut("r1", 50), from_to(4, 8)},
      {"cut by half", "r1", cut("r1", 100 + part_bytes / 2), from_to(6, 8)},
      {"cut by a byte", "r1", cut("r1", 100 + part_bytes - 1), {7}},
      {"empty", "r2", cut("r2", 0), from_to(8, 12)},
      {"cut in the last, which may grow", "r2", cut("r2", row_bytes + 1), from_to(9, 12)},
      {"longer than it has to be", "r1", cut("r1", 1000), {}},
      {"a pipe", "r1",
       [&] {
         std::filesystem::remove(folder / "r1");
         REQUIRE(::mkfifo((folder / "r1").c_str(), 0600) == 0);
       },
       from_to(4, 8)},
      {"a folder", "r0",
       [&] {
         std::filesystem::remove(folder / "r0");
         std::filesystem::create_directory(folder / "r0");
       },
       from_to(0, 4)},
  };
  for (const auto& c : cases) {
    for (const char* name : {"r0", "r1", "r2"}) std::filesystem::remove(folder / name);
    write_raw_files(folder);
    c.act();
    for (const bool isolate : {false, true})
      for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
        INFO(c.name << (isolate ? ", isolated" : "") << ", kept " << keep_bytes);
        check_rows(Hdf5Source({.path = folder / "main.h5", .max_kept_bytes = keep_bytes, .isolate = isolate}), c.lost,
                   c.file);
      }
  }
}

TEST_CASE("other files are looked for where HDF5 looks") {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "at/data");
  std::filesystem::create_directory(folder / "by_link");
  const auto data = [&](std::uint64_t part, const std::string& where) {
    write_h5(folder / where + "/" + source_name(part), {.data = {data_of("x", part_of_rows(part), width, rows)}});
  };
  const auto lost = [&](const std::string& main) {
    Rows bad;
    const Hdf5Source source({.path = folder / main, .isolate = true});
    for (std::uint64_t row = 0; row < source.size(); ++row) try {
        read_sample(source, row);
      } catch (const Error&) {
        bad.insert(row);
      }
    return bad;
  };
  write_virtual(create_h5(folder / "at/main.h5"), in_blocks());
  for (std::uint64_t part = 0; part < 3; ++part) data(part, "at");
  CHECK(lost("at/main.h5").empty());
  // By a link to the file, in whose folder the others are not.
  std::filesystem::create_symlink(folder / "at/main.h5", folder / "by_link/main.h5");
  CHECK(lost("by_link/main.h5").empty());
  // With an absolute name that is no more, by the last part of it.
  {
    H5Virtual moved = in_blocks();
    for (H5Mapping& mapping : moved.mappings) mapping.file = "/not/there/" + mapping.file;
    write_virtual(create_h5(folder / "at/moved.h5"), moved);
  }
  CHECK(lost("at/moved.h5").empty());
  std::filesystem::rename(folder / "at/s1.h5", folder / "at/data/s1.h5");
  CHECK(lost("at/main.h5") == from_to(4, 8));
  for (const std::string& prefix :
       {(folder / "at/data"), "/nowhere:" + (folder / "at/data"), std::string("${ORIGIN}/data")}) {
    INFO(prefix);
    ::setenv("HDF5_VDS_PREFIX", prefix.c_str(), 1);
    CHECK(lost("at/main.h5").empty());
    CHECK(lost("at/moved.h5").empty());
    ::unsetenv("HDF5_VDS_PREFIX");
  }
  // Raw files by the process's folder, and nowhere else unless it is said.
  write_over_raw(folder / "at/raw.h5", "");
  std::filesystem::create_directory(folder / "at/raws");
  for (const std::string name : {"r0", "r1", "r2"}) {
    write_raw_files(folder);
    std::filesystem::rename(folder / name, folder / "at/raws/" + name);
  }
  CHECK(lost("at/raw.h5") == from_to(0, rows));
  CHECK(any_mentions(Hdf5Source({.path = folder / "at/raw.h5"}).faults(), "HDF5_EXTFILE_PREFIX='${ORIGIN}'"));
  for (const std::string& prefix : {(folder / "at/raws"), std::string("${ORIGIN}/raws")}) {
    ::setenv("HDF5_EXTFILE_PREFIX", prefix.c_str(), 1);
    CHECK(lost("at/raw.h5").empty());
    ::unsetenv("HDF5_EXTFILE_PREFIX");
  }
}

TEST_CASE("a source is known by the other files that its values lie in") {
  const TempFolder folder;
  const Kind nested = kinds().back();
  write_all(folder, nested);
  write_over_raw(folder / "raw.h5", (folder.path() / "").string());
  write_raw_files(folder);
  {
    const H5Id links = create_h5(folder / "links.h5");
    h5_must(H5Lcreate_external("mid.h5", "/v", links, "v", H5P_DEFAULT, H5P_DEFAULT));
  }
  for (const char* main : {"main.h5", "raw.h5", "links.h5"})
    for (const bool isolate : {false, true}) {
      INFO(main);
      const auto known = [&] {
        const Hdf5Source source({.path = folder / main, .fields = {{.dataset = "v"}}, .isolate = isolate});
        return std::pair(source.identity(), source.revision());
      };
      const auto before = known();
      CHECK(known() == before);
      const std::string other = folder / (main == std::string("raw.h5") ? "r1" : "s1.h5");
      const auto time = std::filesystem::last_write_time(other);
      std::filesystem::last_write_time(other, time + std::chrono::seconds(10));
      CHECK(known().first == before.first);
      CHECK(known().second != before.second);
      std::filesystem::last_write_time(other, time);
      CHECK(known() == before);
      std::filesystem::rename(other, other + ".away");
      CHECK(known().second != before.second);
      std::filesystem::rename(other + ".away", other);
    }
}

TEST_CASE("links to other files are followed where they are named, told, and refused by the file that is missing") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting<float>("g/x", {20, 2})}});
  {
    const H5Id file = create_h5(folder / "links.h5");
    const auto link = [&](const char* to, const char* object, const char* name) {
      h5_must(H5Lcreate_external(to, object, file, name, H5P_DEFAULT, H5P_DEFAULT));
    };
    link("a.h5", "/g/x", "good");
    link("a.h5", "/g", "group");
    link("gone.h5", "/x", "lost");
    link("a.h5", "/nothing", "empty");
    h5_must(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT));
    write_data(file, counting<float>("x", {20, 2}));
  }
  for (const bool isolate : {false, true}) {
    const Hdf5Source whole({.path = folder / "links.h5", .isolate = isolate});
    CHECK(whole.schema().to_string() == "{x: f32[2]}");
    for (const char* word : {"good to '/g/x' of the file 'a.h5'", "dangling to '/nowhere'", "links: left out"})
      CHECK(any_mentions(whole.notes(), word));
    for (const char* name : {"good", "group/x"}) {
      const Hdf5Source source({.path = folder / "links.h5", .fields = {{.dataset = name}}, .isolate = isolate});
      CHECK(read_sample(source, 3)[std::string(name)].data != nullptr);
      CHECK(any_mentions(source.notes(), "its values lie in 1 other file, '" + (folder / "a.h5") + "'"));
    }
    const struct {
      const char *name, *word;
    } refusals[] = {{"lost", "'lost' is a link to '/x' of the file 'gone.h5': there is no such file"},
                    {"empty", "'empty' is a link to '/nothing' of the file 'a.h5', which has no such object"},
                    {"group/y", "there is no dataset"},
                    {"dangling", "'dangling' is a link to '/nowhere', where there is nothing"}};
    for (const auto& refusal : refusals) {
      const Error error = error_of([&] {
        Hdf5Source({.path = folder / "links.h5", .fields = {{.dataset = refusal.name}}, .isolate = isolate});
      });
      INFO(error.what());
      CHECK(error.code() == Errc::not_found);
      CHECK(mentions(error, refusal.word));
    }
  }
  create_h5(folder / "only.h5");
  {
    const H5Id file(H5Fopen((folder / "only.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    h5_must(H5Lcreate_external("a.h5", "/g/x", file, "good", H5P_DEFAULT, H5P_DEFAULT));
  }
  CHECK(mentions(error_of([&] { Hdf5Source({.path = folder / "only.h5"}); }), "good to '/g/x' of the file 'a.h5'"));
}

TEST_CASE("what happens to other files while a source is open is an error of the rows that they have") {
  const TempFolder folder;
  const Kind kind = kinds().front();
  const Hdf5 options{.path = folder / "main.h5", .max_kept_bytes = 0};
  const auto bad_rows = [](const Hdf5Source& source) {
    Rows bad;
    for (std::uint64_t row = 0; row < rows; ++row) try {
        read_sample(source, row);
      } catch (const Error& error) {
        INFO(error.what());
        CHECK(error.code() == Errc::io);
        CHECK((mentions(error, "s1.h5") || mentions(error, "r1")));
        bad.insert(row);
      }
    return bad;
  };
  {
    write_all(folder, kind);
    const Hdf5Source source(options);
    std::filesystem::rename(folder / "s1.h5", folder / "away.h5");
    CHECK(bad_rows(source) == from_to(4, 8));
  }
  {
    write_all(folder, kind);
    const Hdf5Source source(options);
    write_source(folder, kind, 1, "y");
    const Rows bad = bad_rows(source);
    CHECK(bad.contains(4));
    CHECK_FALSE(bad.contains(3));
  }
  write_over_raw(folder / "main.h5", (folder.path() / "").string());
  write_raw_files(folder);
  const Hdf5Source source(options);
  CHECK(bad_rows(source).empty());
  std::filesystem::resize_file(folder / "r1", 100 + part_bytes / 2);
  CHECK(bad_rows(source) == from_to(4, 8));
}

TEST_CASE("of very many sources each is looked at once, and those that are missing are found at once") {
  const TempFolder folder;
  constexpr std::uint64_t parts = 3000;
  write_h5(folder / "s.h5", {.data = {counting<std::int32_t>("x", {parts, width})}});
  H5Virtual data{.path = "v", .shape = {parts, width}, .mappings = {}};
  for (std::uint64_t part = 0; part < parts; ++part)
    data.mappings.push_back({.file = part % 2 == 0 ? "s.h5" : "gone" + std::to_string(part) + ".h5",
                             .dataset = "x",
                             .to = {{part, 0}, {1, width}},
                             .source_shape = {parts, width},
                             .from = {{part, 0}, {1, width}}});
  write_virtual(create_h5(folder / "main.h5"), data);
  const Hdf5Source source({.path = folder / "main.h5", .max_kept_bytes = 0});
  CHECK(source.size() == parts);
  CHECK(source.fields().front().other_files.size() == parts / 2 + 1);
  CHECK(source.notes().size() < 40);
  CHECK(source.faults().size() < 10);
  for (const std::uint64_t row : {0U, 1U, 2U, 1501U, 2998U, 2999U}) {
    INFO(row);
    if (row % 2 == 0)
      CHECK_NOTHROW(read_sample(source, row));
    else
      CHECK(mentions(error_of([&] { read_sample(source, row); }), "gone" + std::to_string(row) + ".h5"));
  }
}

TEST_CASE("sources of a single value each are read") {
  const TempFolder folder;
  H5Virtual data{.path = "v", .shape = {3}, .mappings = {}};
  for (std::uint64_t part = 0; part < 3; ++part) {
    H5Data one{.path = "x", .type = h5_type<std::int32_t>(), .shape = {}};
    one.values = bytes_of(Values{value_at(part, 0)});
    if (part != 1) write_h5(folder / source_name(part), {.data = {one}});
    data.mappings.push_back({.file = source_name(part), .dataset = "x", .to = {{part}, {1}}, .source_shape = {}});
  }
  write_virtual(create_h5(folder / "main.h5"), data);
  const Hdf5Source source({.path = folder / "main.h5"});
  for (const std::uint64_t row : {0U, 2U})
    CHECK(*reinterpret_cast<const std::int32_t*>(read_sample(source, row)["v"].data) == value_at(row, 0));
  CHECK(mentions(error_of([&] { read_sample(source, 1); }), "s1.h5"));
}

TEST_CASE("a raw file that a source of a virtual dataset lies in is asked for its size after each read") {
  const TempFolder folder;
  write_over_raw(folder / "mid.h5", (folder.path() / "").string());
  write_raw_files(folder);
  write_nested(create_h5(folder / "main.h5"));
  const Hdf5Source source({.path = folder / "main.h5", .max_kept_bytes = 0});
  for (std::uint64_t row = 0; row < rows; ++row) CHECK_NOTHROW(read_sample(source, row));
  std::filesystem::resize_file(folder / "r1", 100);
  for (std::uint64_t row = 4; row < 8; ++row) {
    const Error error = error_of([&] { read_sample(source, row); });
    CHECK(error.code() == Errc::io);
    CHECK(mentions(error, "r1' was cut short"));
  }
}

TEST_CASE("a source is too deep only where it is read through too many others") {
  const TempFolder folder;
  const auto whole_of = [](const std::string& file) {
    return H5Mapping{.file = file, .dataset = "v", .to = {{0, 0}, {of_part, width}}, .source_shape = {of_part, width}};
  };
  write_h5(folder / "d0.h5", {.data = {data_of("v", part_of_rows(0), width, of_part)}});
  for (int level = 1; level < 8; ++level)
    write_virtual(
        create_h5(folder / ("d" + std::to_string(level) + ".h5")),
        {.path = "v", .shape = {of_part, width}, .mappings = {whole_of("d" + std::to_string(level - 1) + ".h5")}});
  H5Virtual both{.path = "v", .shape = {2 * of_part, width}, .mappings = {whole_of("d7.h5"), whole_of("d2.h5")}};
  both.mappings[1].to.start.front() = of_part;
  write_virtual(create_h5(folder / "main.h5"), both);
  const Hdf5Source source({.path = folder / "main.h5"});
  for (std::uint64_t row = 0; row < 2 * of_part; ++row)
    if (row < of_part)
      CHECK(mentions(error_of([&] { read_sample(source, row); }), "more than 8 deep"));
    else
      CHECK(*reinterpret_cast<const std::int32_t*>(read_sample(source, row)["v"].data) == value_at(row - of_part, 0));
}

TEST_CASE("values of a source whose rows have another shape are not taken for those that were meant") {
  const TempFolder folder;
  const auto lost = [&](const std::vector<hsize_t>& shape, const std::vector<hsize_t>& has) {
    std::filesystem::remove(folder / "s.h5");
    write_h5(folder / "s.h5", {.data = {counting<std::int32_t>("x", has)}});
    write_virtual(
        create_h5(folder / "main.h5"),
        {.path = "v", .shape = shape, .mappings = {{.file = "s.h5", .dataset = "x", .to = {}, .source_shape = shape}}});
    return !Hdf5Source({.path = folder / "main.h5"}).faults().empty();
  };
  CHECK_FALSE(lost({10, 4, 6}, {10, 4, 6}));
  CHECK(lost({10, 4, 6}, {10, 6, 4}));
  CHECK(lost({10, 4, 6}, {1, 6, 4}));
  CHECK(lost({10, 10}, {20, 5}));
  // The same values in a form that was written so.
  CHECK_FALSE(lost({10, 10}, {100}));
  CHECK_FALSE(lost({10, 4, 6}, {10, 24}));
  CHECK_FALSE(lost({10, 1, 6}, {10, 6}));
  CHECK_FALSE(lost({10, 1, 6}, {10, 6, 1}));
}

TEST_CASE("a file is another one only where it holds values and is not the same") {
  const TempFolder folder;
  {
    const H5Id file = create_h5(folder / "own.h5");
    write_data(file, data_of("x", part_of_rows(0), width, of_part));
    write_virtual(
        file, {.path = "v",
               .shape = {of_part, width},
               .mappings = {{.file = folder / "own.h5", .dataset = "x", .to = {}, .source_shape = {of_part, width}}}});
  }
  const Hdf5Source own({.path = folder / "own.h5", .fields = {{.dataset = "v"}}});
  CHECK_NOTHROW(read_sample(own, 0));
  CHECK(own.fields().front().other_files.empty());
  CHECK_FALSE(any_mentions(own.notes(), "other file"));
  for (std::uint64_t part = 0; part < 3; ++part)
    write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part), width, of_part)}});
  write_numbered(create_h5(folder / "main.h5"));
  for (const bool isolate : {false, true}) {
    const Hdf5 options{.path = folder / "main.h5", .isolate = isolate};
    const Hdf5Source source(options);
    CHECK(source.fields().front().other_files.size() == 3);
    CHECK(any_mentions(source.notes(), "in 3 other files"));
    // One that comes to be is a part of it all the same.
    const auto before = source.revision();
    write_h5(folder / "s3.h5", {.data = {data_of("x", part_of_rows(3), width, of_part)}});
    CHECK(Hdf5Source(options).revision() != before);
    std::filesystem::remove(folder / "s3.h5");
  }
}

TEST_CASE("values in no source are told at any depth, and where sources overlap") {
  const TempFolder folder;
  write_h5(folder / "s.h5", {.data = {counting<std::int32_t>("x", {rows, width})}});
  struct Piece {
    H5Slab to;
    std::vector<hsize_t> shape;
  };
  const auto write = [&](const std::string& file, const std::vector<Piece>& pieces) {
    H5Virtual data{.path = "v", .shape = {rows, width}, .mappings = {}};
    for (const Piece& piece : pieces) {
      H5Slab from{std::vector<hsize_t>(2, 0), piece.shape};
      data.mappings.push_back(
          {.file = "s.h5", .dataset = "x", .to = piece.to, .source_shape = {rows, width}, .from = from});
    }
    write_virtual(create_h5(folder / file), data);
  };
  const Piece column{{{0, 0}, {rows, 1}}, {rows, 1}}, other{{{0, 1}, {rows, 1}}, {rows, 1}};
  const Piece even{{{0, 0}, {rows / 2, width}, {2, 1}}, {rows / 2, width}};
  const Piece odd{{{1, 0}, {rows / 2, width}, {2, 1}}, {rows / 2, width}};
  const Piece all{{{0, 0}, {rows, width}}, {rows, width}}, first{{{0, 0}, {of_part, width}}, {of_part, width}};
  const Piece rest{{{2, 0}, {rows - 2, width}}, {rows - 2, width}};
  const struct {
    const char* name;
    std::vector<Piece> pieces;
    const char* told;
  } cases[] = {{"both columns", {column, other}, ""},
               {"one column", {column}, "12 of its 24 values lie in no source"},
               {"one column twice", {column, column}, "some of its values may lie in none"},
               {"a column and the rest of rows", {column, rest}, "some of its values may lie in none"},
               {"a column and rows", {column, first}, "at least 4 of its 24 values lie in no source"},
               {"in turn", {even, odd}, ""},
               {"even rows twice", {even, even}, "some of its values may lie in none"},
               {"even rows", {even}, "12 of its 24 values lie in no source"},
               {"all twice", {all, all}, ""},
               {"rows that overlap", {first, rest}, ""},
               {"all and a column", {all, column}, ""},
               {"first rows", {first}, "rows 4 to 11 lie in no source"}};
  write_nested(create_h5(folder / "main.h5"));
  for (const auto& c : cases) {
    INFO(c.name);
    std::filesystem::remove(folder / "mid.h5");
    write("mid.h5", c.pieces);
    const std::string told = c.told;
    for (const char* file : {"mid.h5", "main.h5"}) {
      const std::vector<std::string> notes = Hdf5Source({.path = folder / file}).notes();
      CHECK(any_mentions(notes, "fill value") == !told.empty());
      CHECK(any_mentions(notes, told));
      CHECK((told.empty() || any_mentions(notes, "dataset 'v' of '") == (file == std::string("main.h5"))));
    }
  }
}

TEST_CASE("of a source of a source that is read in turn only rows that it lacks are lost") {
  const TempFolder folder;
  // Parts 0 and 2 are there: rows 0 to 3 and 8 to 11 of mid.h5.
  for (const std::uint64_t part : {0U, 2U})
    write_h5(folder / source_name(part), {.data = {data_of("x", part_of_rows(part), width, rows)}});
  write_virtual(create_h5(folder / "mid.h5"), in_blocks());
  const auto lost = [&](std::uint64_t count, const H5Slab& to, const H5Slab& from) {
    write_virtual(
        create_h5(folder / "main.h5"),
        {.path = "v",
         .shape = {count, width},
         .mappings = {{.file = "mid.h5", .dataset = "v", .to = to, .source_shape = {rows, width}, .from = from}}});
    const Hdf5Source source({.path = folder / "main.h5"});
    Rows bad;
    for (std::uint64_t row = 0; row < count; ++row) try {
        read_sample(source, row);
      } catch (const Error&) {
        bad.insert(row);
      }
    return bad;
  };
  CHECK(lost(2 * rows, {{1, 0}, {rows, width}, {2, 1}}, {{0, 0}, {rows, width}}) == Rows{9, 11, 13, 15});
  CHECK(lost(rows / 2, {{0, 0}, {rows / 2, width}}, {{1, 0}, {rows / 2, width}, {2, 1}}) == Rows{2, 3});
  CHECK(lost(rows, {{0, 0}, {4, width}, {3, 1}}, {{2, 0}, {4, width}, {3, 1}}) == Rows{3});
}

TEST_CASE("what can't be read of sources of sources is told apart up to a number, and beyond it as a whole") {
  const TempFolder folder;
  constexpr std::uint64_t parts = 600;
  H5Virtual mid{.path = "v", .shape = {2 * parts}, .mappings = {}}, top = mid;
  write_h5(folder / "s.h5", {.data = {counting<std::int32_t>("x", {2 * parts})}});
  top.shape = {2 * parts * parts};
  for (std::uint64_t part = 0; part < parts; ++part) {
    mid.mappings.push_back(
        {.file = "gone.h5", .dataset = "x", .to = {{2 * part + 1}, {1}}, .source_shape = {1}, .from = {{0}, {1}}});
    top.mappings.push_back(
        {.file = "mid.h5", .dataset = "v", .to = {{2 * parts * part}, {2 * parts}}, .source_shape = {2 * parts}});
  }
  mid.mappings.push_back(
      {.file = "s.h5", .dataset = "x", .to = {{0}, {parts}, {2}}, .source_shape = {2 * parts}, .from = {{0}, {parts}}});
  write_virtual(create_h5(folder / "mid.h5"), mid);
  write_virtual(create_h5(folder / "main.h5"), top);
  const Hdf5Source source({.path = folder / "main.h5", .max_kept_bytes = 0});
  CHECK_NOTHROW(read_sample(source, 0));
  CHECK(mentions(error_of([&] { read_sample(source, 1); }), "gone.h5"));
  CHECK(mentions(error_of([&] { read_sample(source, source.size() - 2); }), "gone.h5"));
}

TEST_CASE("rows are kept also where others are lost, and the lost ones are told from them") {
  const TempFolder folder;
  for (const Kind& kind : kinds())
    for (const bool isolate : {false, true}) {
      if (kind.numbered || kind.lost == from_to(0, rows)) continue;
      INFO(kind.name);
      write_all(folder, kind);
      std::filesystem::remove(folder / "s1.h5");
      const Hdf5Source source({.path = folder / "main.h5", .isolate = isolate});
      CHECK_NOTHROW(read_sample(source, 0));
      for (const std::uint64_t part : {0U, 2U}) std::filesystem::remove(folder / source_name(part));
      check_rows(source, kind.lost, "s1.h5");
    }
}

TEST_CASE("a conversion is told of each dataset that reads a source as another type") {
  const TempFolder folder;
  write_h5(folder / "s.h5", {.data = {data_of("x", part_of_rows(0), width, of_part)}});
  const auto whole_of = [](const std::string& file, const std::string& dataset, std::uint64_t first) {
    return H5Mapping{
        .file = file, .dataset = dataset, .to = {{first, 0}, {of_part, width}}, .source_shape = {of_part, width}};
  };
  {
    const H5Id mid = create_h5(folder / "mid.h5");
    for (const char* name : {"same", "other"})
      write_virtual(mid, {.path = name,
                          .shape = {of_part, width},
                          .mappings = {whole_of("s.h5", "x", 0)},
                          .type = h5_integer(name == std::string("same") ? 4 : 2, true)});
  }
  write_virtual(create_h5(folder / "main.h5"),
                {.path = "v",
                 .shape = {2 * of_part, width},
                 .mappings = {whole_of("mid.h5", "same", 0), whole_of("mid.h5", "other", of_part)}});
  const std::vector<std::string> notes = Hdf5Source({.path = folder / "main.h5"}).notes();
  const std::string mid = folder / "mid.h5", told = "1 of its sources have another type";
  CHECK(any_mentions(notes, "dataset 'other' of '" + mid + "': the values of " + told));
  CHECK_FALSE(any_mentions(notes, "dataset 'same' of '" + mid + "': the values of " + told));
}
