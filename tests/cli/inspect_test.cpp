// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

TEST_CASE("inspect tells schema, sizes and classes") {
  const TempFolder folder;
  write_images(folder, 3, 31);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  for (const std::string store : {"x.lmdb", "images"}) {
    const ToolResult inspected = tool({"inspect", folder / store, "--json"});
    REQUIRE(inspected.status == 0);
    const auto json = inspected.json();
    CHECK(json["records"] == 31);
    CHECK(json["kind"] == (store == "images" ? "files" : "lmdb"));
    CHECK(json["first_key"] == "class_0/0000");
    CHECK(json["images"]["jpeg"] == 31);
    CHECK(json["height"]["min"] == 48);
    CHECK(json["width"]["max"] == 64);
    CHECK(json["fields"][0]["bytes"]["min"] <= json["fields"][0]["bytes"]["median"]);
    REQUIRE(json["classes"].size() == 3);
    CHECK(json["classes"][0] == Json::parse(R"({"label": 0, "name": "class_0", "records": 11})"));
    CHECK(json["unreadable"] == 0);
    CHECK(json["fields"][1]["bytes"]["total"] == 31 * 8);
    CHECK(tool({"inspect", folder / store}).out.find("label   8 B each, 248 B in all") != std::string::npos);
  }
}

TEST_CASE("inspect --png draws a contact sheet, bad samples included") {
  const TempFolder folder;
  write_images(folder, 3, 20);
  folder.write("images/class_1/0004.jpg", "this is no image at all");
  const ToolResult inspected = tool({"inspect", folder / "images", "--png", folder / "sheet.png", "--cell", "32"});
  CHECK(inspected.status == 0);
  CHECK(inspected.out.find("sheet.png") != std::string::npos);
  const std::string png = text_in(folder / "sheet.png");
  REQUIRE(png.size() > 100);
  CHECK(png.substr(0, 8) == std::string("\x89PNG\r\n\x1a\n", 8));
  // 5 columns of 32 pixels and 4 rows of 32 + 2 for the bar, 2 pixels apart
  CHECK(png.substr(16, 8) == std::string("\0\0\0\xac\0\0\0\x92", 8));
}

TEST_CASE("inspect takes a folder of slides, DICOM files among them") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "slides");
  REQUIRE(make_slides({folder / "slides/a.svs", "--size", "600x500"}).status == 0);
  const ToolResult one = tool({"inspect", folder / "slides", "--json"});
  REQUIRE(one.status == 0);
  CHECK(one.json()["kind"] == "slide");
  folder.write("slides/b.dcm", std::string(128, '\0') + "DICM");
  const ToolResult both = tool({"inspect", folder / "slides", "--json"});
  REQUIRE(both.json()["slides"].size() == 2);
  CHECK(both.json()["slides"][1]["failure"].text().find("it is a DICOM file") != std::string::npos);
  // A folder of DICOM files alone is no folder of nothing.
  std::filesystem::remove(folder / "slides/a.svs");
  const ToolResult none = tool({"inspect", folder / "slides"});
  CHECK(none.status == 1);
  CHECK(none.err.find("it is a DICOM file") != std::string::npos);
}

TEST_CASE("reading commands make nothing beside what they don't know, and wait for no pipe") {
  const TempFolder folder;
  folder.write("a.bin", std::string(5000, 'x'));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* const command : {"inspect", "verify", "bench"}) {
    CAPTURE(command);
    const ToolResult unknown = tool({command, folder / "a.bin"});
    CHECK(unknown.status == 1);
    CHECK(unknown.err.find("is none of the stores that are known") != std::string::npos);
    const ToolResult pipe = tool({command, folder / "pipe"});
    CHECK(pipe.status == 1);
    CHECK(pipe.err.find("it is neither a file nor a folder") != std::string::npos);
  }
  const ToolResult converted = tool({"convert", folder / "a.bin", "--out", folder / "b.lmdb"});
  CHECK(converted.status == 1);
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    entries += entry.path().filename() == "a.bin" || entry.path().filename() == "pipe" ? 1 : 100;
  CHECK(entries == 2);
}
