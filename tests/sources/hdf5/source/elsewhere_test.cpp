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
        CHECK(source.identified());
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
  for (const std::uint64_t row : {0, 1, 2, 1501, 2998, 2999}) {
    INFO(row);
    if (row % 2 == 0)
      CHECK_NOTHROW(read_sample(source, row));
    else
      CHECK(mentions(error_of([&] { read_sample(source, row); }), "gone" + std::to_string(row) + ".h5"));
  }
}
