// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/tool.hpp"
#include "sources/hdf5/elsewhere_files.hpp"
#include "sources/hdf5/files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

// 60 images and their labels; images in compressed chunks of 8 with checksums.
void write_images(const std::string& path, hsize_t user_block = 0) {
  H5Data images{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {60, 10, 12}};
  images.layout = H5D_CHUNKED;
  images.chunk = {8, 10, 12};
  images.filters = {H5Filter::deflate, H5Filter::fletcher32};
  images.dense = true;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 60; ++i) labels.push_back(i % 3);
  H5Data label{.path = "label", .type = h5_type<std::int64_t>(), .shape = {60}};
  label.values = bytes_of(labels);
  write_h5(path, {.data = {images, label}, .user_block = user_block});
}

}  // namespace

TEST_CASE("inspect, verify, convert and bench take HDF5 files") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  const ToolResult inspected = tool({"inspect", folder / "a.h5", "--json"});
  REQUIRE(inspected.status == 0);
  const auto json = inspected.json();
  CHECK(json["kind"] == "hdf5");
  CHECK(json["records"] == 60);
  CHECK(json["schema"] == "{label: i64[], x: u8[10, 12]}");
  CHECK(json["classes"][0]["records"] == 20);
  CHECK(json["unreadable"] == 0);
  CHECK(tool({"inspect", folder / "a.h5"}).out.find("chunks of [8, 10, 12], deflate + fletcher32") !=
        std::string::npos);
  CHECK(tool({"verify", folder / "a.h5"}).status == 0);
  CHECK(tool({"bench", folder / "a.h5", "--stages", "batch 4", "--epochs", "1"}).status == 0);
  CHECK(tool({"convert", folder / "a.h5", "--out", folder / "a.lmdb", "--quiet"}).status == 0);
  const auto converted = tool({"inspect", folder / "a.lmdb", "--json"}).json();
  CHECK(converted["records"] == 60);
  CHECK(converted["schema"] == json["schema"]);
  CHECK(converted["first_key"] == "00000000");
}

TEST_CASE("HDF5 files that are not trusted give the tool the same") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  const auto with = [&](std::vector<std::string> arguments) {
    const ToolResult result = tool(std::move(arguments));
    CHECK(result.status == 0);
    return result.json();
  };
  CHECK(with({"inspect", folder / "a.h5", "--isolate", "--json"}) == with({"inspect", folder / "a.h5", "--json"}));
  const std::vector<std::string> run{"bench", folder / "a.h5", "--stages", "batch 4", "--epochs",
                                     "1",     "--hash",        "--json"};
  std::vector<std::string> untrusted = run;
  untrusted.emplace_back("--isolate");
  const auto hash = [](const auto& json) { return json["runs"][0]["hash"]; };
  CHECK(hash(with(untrusted)) == hash(with(run)));
  CHECK(tool({"convert", folder / "a.h5", "--out", folder / "a.lmdb", "--quiet", "--isolate"}).status == 0);
  CHECK(tool({"inspect", folder / "a.h5", "--isolate"}).out.find("another process") != std::string::npos);
  // verify isolates, unless it is told not to.
  ::setenv("PENSTOCK_HDF5_READER", "/nowhere", 1);
  CHECK(tool({"verify", folder / "a.h5", "--no-isolate"}).status == 0);
  const ToolResult refused = tool({"verify", folder / "a.h5"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("/nowhere") != std::string::npos);
  ::unsetenv("PENSTOCK_HDF5_READER");
}

TEST_CASE("an HDF5 file is known by its content too, also after what a user put before it") {
  const TempFolder folder;
  for (const hsize_t user_block : {hsize_t{0}, hsize_t{2048}}) {
    write_images(folder / "without_a_name", user_block);
    CHECK(tool({"inspect", folder / "without_a_name", "--json"}).json()["kind"] == "hdf5");
  }
  folder.write("no.h5", "this is something else");
  const ToolResult refused = tool({"inspect", folder / "no.h5"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("no HDF5 file") != std::string::npos);
  CHECK(one_line(refused.err));
}

TEST_CASE("verify lists the records of a damaged chunk of HDF5") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  std::string bytes = text_in(folder / "a.h5");
  // Dense chunks of 960 bytes fill the file: somewhere in one of them.
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder.write("b.h5", bytes);
  const ToolResult verified = tool({"verify", folder / "b.h5", "--json"});
  CHECK(verified.status == 3);
  const auto bad = verified.json()["bad"];
  REQUIRE(bad.size() == 8);
  CHECK(bad[0]["key"] == std::to_string(bad[0]["index"].whole()));
  const std::string cause = bad[0]["cause"].text();
  CHECK(cause.find("'x'") != std::string::npos);
  CHECK(cause.find("chunk") != std::string::npos);
}

TEST_CASE("inspect, verify and convert name the file that an HDF5 file's values lie in and that is missing") {
  const TempFolder folder;
  constexpr hsize_t rows = 12, part = 4;
  H5Virtual data{.path = "x", .shape = {rows, 2}, .mappings = {}};
  for (hsize_t first = 0; first < rows; first += part) {
    const std::string name = "s" + std::to_string(first / part) + ".h5";
    write_h5(folder / name, {.data = {counting<std::int32_t>("x", {part, 2}, 1)}});
    data.mappings.push_back({.file = name, .dataset = "x", .to = {{first, 0}, {part, 2}}, .source_shape = {part, 2}});
  }
  write_virtual(create_h5(folder / "virtual.h5"), data);
  const auto raw = [&](hsize_t file) { return folder / "r" + std::to_string(file); };
  for (const hsize_t file : {0, 1}) folder.write("r" + std::to_string(file), std::string(6 * 8, 'x'));
  write_external(create_h5(folder / "raw.h5"), "x", h5_type<std::int32_t>(), {rows, 2},
                 {{raw(0), 0, 6 * 8}, {raw(1), 0, 6 * 8}});

  const std::vector<std::string> kinds{"virtual", "raw"};
  for (const std::string& kind : kinds) {
    INFO(kind);
    const std::string store = folder / kind + ".h5", other = kind == "raw" ? raw(1) : folder / "s1.h5";
    const ToolResult whole = tool({"inspect", store, "--json"});
    CHECK(whole.status == 0);
    CHECK(whole.json()["other_files"].size() == (kind == "raw" ? 2 : 3));
    CHECK(tool({"inspect", store}).out.find(other) != std::string::npos);
    CHECK(tool({"verify", store}).status == 0);
    CHECK(tool({"convert", store, "--out", folder / kind + ".lmdb", "-q"}).status == 0);
    // Cut short, then gone.
    const std::size_t lost = kind == "raw" ? 6 : 4;
    for (const bool gone : {false, true}) {
      INFO((gone ? "gone" : "cut short"));
      if (gone)
        std::filesystem::remove(other);
      else
        std::filesystem::resize_file(other, kind == "raw" ? 0 : 1000);
      const ToolResult inspected = tool({"inspect", store});
      CHECK(inspected.status == 3);
      CHECK(inspected.out.find(kind == "raw" ? "rows 6 to 11 can't be read" : "rows 4 to 7 can't be read") !=
            std::string::npos);
      CHECK(inspected.out.find(other) != std::string::npos);
      const ToolResult verified = tool({"verify", store, "--json"});
      CHECK(verified.status == 3);
      REQUIRE(verified.json()["bad"].size() == lost);
      CHECK(verified.json()["bad"][0]["cause"].text().find(other) != std::string::npos);
      const std::string to = folder / kind + (gone ? "-gone" : "-cut") + ".lmdb";
      const ToolResult converted = tool({"convert", store, "--out", to, "-q"});
      CHECK(converted.status == 1);
      CHECK(one_line(converted.err));
      CHECK(converted.err.find(other) != std::string::npos);
    }
  }
}

TEST_CASE("pack and convert write HDF5 and LMDB and tar shards come of it again") {
  const TempFolder folder;
  penstock_test::write_images(folder, 3, 31);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "-q"}).status == 0);
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "p.h5", "--json"});
  REQUIRE(packed.status == 0);
  CHECK(packed.json()["written"] == 31);
  const auto inspected = tool({"inspect", folder / "p.h5", "--json"}).json();
  CHECK(inspected["records"] == 31);
  CHECK(inspected["schema"] == "{image: u8[?], label: i64[]}");
  CHECK(inspected["first_key"] == "class_0/0000");
  CHECK(inspected["classes"][2]["name"] == "class_2");
  CHECK(tool({"pack", folder / "images", "--out", folder / "p.h5"}).out.find("nothing to do") != std::string::npos);

  // One file of an LMDB, or several.
  REQUIRE(tool({"convert", folder / "x.lmdb", "--out", folder / "one.h5", "-q"}).status == 0);
  CHECK(tool({"inspect", folder / "one.h5", "--json"}).json()["schema"] == inspected["schema"]);
  REQUIRE(tool({"convert", folder / "x.lmdb", "--out", folder / "shards/s.h5", "--shard-samples", "10", "-q"}).status ==
          0);
  for (const char* const name : {"shards", "shards/s-*.h5"}) {
    const auto shards = tool({"inspect", folder / name, "--json"}).json();
    CHECK(shards["kind"] == "hdf5");
    CHECK(shards["records"] == 31);
  }
  CHECK(tool({"verify", folder / "shards"}).status == 0);
  CHECK(tool({"convert", folder / "x.lmdb", "--out", folder / "one.h5"}).out.find("nothing to do") !=
        std::string::npos);

  // Back: keys and values are the same.
  for (const char* const from : {"p.h5", "one.h5", "shards"}) {
    const std::string back = folder / (std::string(from) + ".lmdb");
    REQUIRE(tool({"convert", folder / from, "--out", back, "-q"}).status == 0);
    CHECK(content(back) == content(folder / "x.lmdb"));
  }

  // HDF5 becomes tar shards, and these become HDF5 again.
  REQUIRE(tool({"convert", folder / "one.h5", "--out", folder / "t/t.tar", "-q"}).status == 0);
  CHECK(tool({"inspect", folder / "t", "--json"}).json()["records"] == 31);
  REQUIRE(tool({"convert", folder / "t", "--out", folder / "back.h5", "-q"}).status == 0);
  CHECK(tool({"inspect", folder / "back.h5", "--json"}).json()["records"] == 31);
}

TEST_CASE("columns of a compound dataset whose names have a '/' are taken by the names they are shown with") {
  const TempFolder folder;
  H5Data table{.path = "cells/all",
               .type = h5_compound({{"um/area", h5_type<float>()}, {"id", h5_type<std::int32_t>()}}),
               .shape = {9}};
  write_h5(folder / "a.h5", {.data = {table}});
  const std::string schema = tool({"inspect", folder / "a.h5", "--json"}).json()["schema"].text();
  CHECK(schema == "{cells/all/um/area: f32[], cells/all/id: i32[]}");
  const ToolResult part = tool({"inspect", folder / "a.h5", "--fields", "cells/all/um/area,cells/all/id", "--json"});
  INFO(part.err);
  REQUIRE(part.status == 0);
  CHECK(part.json()["schema"] == schema);
  const ToolResult none = tool({"inspect", folder / "a.h5", "--fields", "cells/all/um"});
  CHECK(none.status == 1);
  CHECK(one_line(none.err));
  CHECK(none.err.find("there are: um/area, id") != std::string::npos);
}

TEST_CASE("fields in groups of HDF5 go to tar shards") {
  const TempFolder folder;
  H5Data x{.path = "train/x", .type = h5_type<std::uint8_t>(), .shape = {9, 4}};
  H5Data y{.path = "train/y", .type = h5_type<float>(), .shape = {9, 2}};
  write_h5(folder / "a.h5", {.data = {x, y}});
  REQUIRE(tool({"convert", folder / "a.h5", "--out", folder / "t/t.tar", "-q"}).status == 0);
  const auto inspected = tool({"inspect", folder / "t", "--json"}).json();
  CHECK(inspected["schema"] == "{train.x: u8[4], train.y: f32[2]}");
}

TEST_CASE("an HDF5 file that is marked as unfinished is refused") {
  const TempFolder folder;
  penstock_test::write_images(folder, 2, 12);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "x.lmdb", "--out", folder / "a.h5", "-q"}).status == 0);
  folder.write("a.h5-unfinished.json", "{}");
  const ToolResult refused = tool({"inspect", folder / "a.h5"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("unfinished") != std::string::npos);
  CHECK(one_line(refused.err));
  const ToolResult lsun = tool({"pack", folder / "images", "--out", folder / "b.h5", "--lsun"});
  CHECK(lsun.status == 2);
  CHECK(one_line(lsun.err));
}

TEST_CASE("convert does not go on with, or take for done, what another HDF5 file of the same form became") {
  const TempFolder folder;
  H5Data x{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {9, 4}};
  write_h5(folder / "a.h5", {.data = {x}});
  write_h5(folder / "b.h5", {.data = {x}});
  for (const char* const out : {"x.hdf5", "x.lmdb"}) {
    REQUIRE(tool({"convert", folder / "a.h5", "--out", folder / out, "-q"}).status == 0);
    CHECK(tool({"convert", folder / "a.h5", "--out", folder / out, "-q"}).status == 0);
    const ToolResult other = tool({"convert", folder / "b.h5", "--out", folder / out, "-q"});
    CHECK(other.status == 1);
    CHECK(other.err.find("job") != std::string::npos);
  }
  CHECK(tool({"inspect", folder / "x.hdf5", "--json"}).json()["kind"] == "hdf5");
}

TEST_CASE("inspect looks at fewer records where they are large") {
  const TempFolder folder;
  H5Data rows{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {100, 64 << 20}};
  rows.never_written = true;
  write_h5(folder / "a.h5", {.data = {rows}});
  const auto json = tool({"inspect", folder / "a.h5", "--json"}).json();
  CHECK(json["records"] == 100);
  CHECK(json["looked_at"] == 16);
  CHECK(json["fields"][0]["bytes"]["max"] == 64 << 20);
}
