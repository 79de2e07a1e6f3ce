// SPDX-License-Identifier: Apache-2.0
// penstock tile by a file of settings, and of slides by a list.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

struct Slides {
  TempFolder folder;
  Slides() {
    std::filesystem::create_directory(folder / "in");
    write_slide(folder / "in/a.svs", {.width = 330, .height = 270});
    write_slide(folder / "in/b, c.svs", {.width = 200, .height = 140});
    write_slide(folder / "in/d.tif", {.width = 200, .height = 140});
  }
  ToolResult tile(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"tile"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  }
};

}  // namespace

TEST_CASE("settings in a file are those of the command line, which counts where both say something") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  folder.write("t.csv", "slide,label,kind,age\na,1,x,3\n\"b, c\",2,y,4\nd,3,x,5\n");
  folder.write("s.toml", fmt::format(R"(# A cohort.
slides = ["{0}/in/a.svs", "{0}/in/b, c.svs"]
out = "{0}/from-file.lmdb"
size = 50
overlap = 10
edges = "pad"
encode = true
verify = false
labels = "{0}/t.csv"
columns = ["label", "age"]
least-tissue = 0.25
tissue = 'saturation'
tissue-mpp = 1.5e1
assume-mpp = 0.5
)",
                                     folder.path().string()));
  const ToolResult from_file = slides.tile({"--settings", folder / "s.toml", "--json"});
  CAPTURE(from_file.err);
  REQUIRE(from_file.status == 0);
  const ToolResult typed = slides.tile({folder / "in/a.svs",
                                        folder / "in/b, c.svs",
                                        "--out",
                                        folder / "typed.lmdb",
                                        "--size",
                                        "50",
                                        "--overlap",
                                        "10",
                                        "--edges",
                                        "pad",
                                        "--encode",
                                        "--labels",
                                        folder / "t.csv",
                                        "--columns",
                                        "label,age",
                                        "--tissue",
                                        "saturation",
                                        "--least-tissue",
                                        "0.25",
                                        "--tissue-mpp",
                                        "15",
                                        "--assume-mpp",
                                        "0.5"});
  REQUIRE(typed.status == 0);
  CHECK(content(folder / "from-file.lmdb") == content(folder / "typed.lmdb"));
  const auto seen = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--settings", folder / "s.toml", "--dry-run", "--json"});
    const ToolResult result = slides.tile(more);
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    return result.json();
  };
  const auto all = from_file.json()["records"];
  CHECK(seen({})["tiles"] == all);
  CHECK(seen({"--size=64"})["tiles"] < all);
  CHECK(seen({"--tissue-threshold", "254"})["tiles"] < all);
  // It can't stand beside one of the file's, which doesn't count then.
  CHECK(seen({"--mpp", "1"})["tiles"] < all);
  CHECK(seen({folder / "in/d.tif"})["slides"].size() == 1);
  CHECK(seen({"--size", "64", folder / "in/d.tif"})["slides"][0]["slide"] == "d");
  CHECK(slides.tile({"--settings=" + folder / "s.toml", "--dry-run", "--quiet"}).status == 0);
}

TEST_CASE("settings that can't be meant are refused with the line") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  const auto refused = [&](const std::string& text, int status, const std::string& why) {
    folder.write("s.toml", "slides = \"" + folder / "in" + "\"\n" + text);
    const ToolResult result = slides.tile({"--settings", folder / "s.toml", "--dry-run"});
    CAPTURE(text, result.err);
    CHECK(result.status == status);
    CHECK(one_line(result.err));
    CHECK(result.err.find(why) != std::string::npos);
  };
  refused("sise = 64\n", 2, "line 2: sise is no option of tile; did you mean --size?");
  refused("\n[tissue]\nmpp = 4\n", 2, "line 3: ");
  refused("encode = 1\n", 2, "line 2: encode is true or false");
  refused("size = true\n", 2, "line 2: size is text, a number, or a list of these");
  refused("columns = [true]\n", 2, "line 2: columns is text, a number, or a list of these");
  refused("size = \n", 1, "line 2: ");
  refused("size = 64\nsize = 65\n", 1, "line 3: ");
  refused("size = \"64\n", 1, "line 2: ");
  refused("size = 0\n", 2, "--size");
  refused("edges = \"round\"\n", 2, "--edges");
  refused("settings = \"x.toml\"\n", 2, "settings is no option of tile");
  CHECK(slides.tile({"--settings", folder / "none.toml"}).err.find("none.toml") != std::string::npos);
  CHECK(slides.tile({"--settings"}).status == 2);
}

TEST_CASE("slides by a list") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  const auto names = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--dry-run", "--json", "--size", "64"});
    const ToolResult result = slides.tile(more);
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    std::vector<std::string> found;
    const auto json = result.json();
    for (const auto& slide : json["slides"]) found.push_back(slide["slide"].text());
    return found;
  };
  const std::vector<std::string> two{"d", "b, c"};
  folder.write("in/list.txt", "# those that are wanted\r\nd.tif\r\n\n" + folder / "in/b, c.svs");
  CHECK(names({"--list", folder / "in/list.txt"}) == two);
  folder.write("list.csv", "patient,path\n1,in/d.tif\n2,\"in/b, c.svs\"\n3,\n");
  CHECK(names({"--list", folder / "list.csv"}) == two);
  folder.write("list.tsv", "patient\tscan\n1\tin/d.tif\n2\tin/b, c.svs\n");
  CHECK(names({"--list", folder / "list.tsv", "--list-column", "scan"}) == two);
  folder.write("pattern.txt", "in/*.svs\n");
  CHECK(names({"--list", folder / "pattern.txt"}) == std::vector<std::string>{"a", "b, c"});
  const auto refused = [&](const std::vector<std::string>& words, int status, const std::string& why) {
    const ToolResult result = slides.tile(words);
    CAPTURE(result.err);
    CHECK(result.status == status);
    CHECK(result.err.find(why) != std::string::npos);
  };
  refused({"--list", folder / "list.tsv", "--list-column", "file", "--dry-run"}, 2,
          "has no column file; it has patient, scan");
  refused({"--list", folder / "in/list.txt", "--list-column", "file", "--dry-run"}, 2, "is a column of --list");
  folder.write("bom.txt", "\xef\xbb\xbfin/d.tif\n");
  CHECK(names({"--list", folder / "bom.txt"}) == std::vector<std::string>{"d"});
  folder.write("s.toml", "slides = [\"" + folder / "in/a.svs" + "\"]\n");
  CHECK(names({"--settings", folder / "s.toml", "--list", folder / "bom.txt"}) == std::vector<std::string>{"d"});
  folder.write("l.toml", "list = \"" + folder / "bom.txt" + "\"\n");
  CHECK(names({"--settings", folder / "l.toml"}) == std::vector<std::string>{"d"});
  CHECK(names({"--settings", folder / "l.toml", folder / "in/a.svs"}) == std::vector<std::string>{"a"});
  refused({"--list", folder / "none.txt", "--dry-run"}, 1, "none.txt");
  folder.write("empty.txt", "# none\n");
  refused({"--list", folder / "empty.txt", "--dry-run"}, 1, "names no slide");
  folder.write("gone.txt", "in/z.svs\n");
  // One that is not there is a slide that can't be read.
  CHECK(slides.tile({"--list", folder / "gone.txt", "--dry-run"}).status == 3);
  refused({folder / "in", "--list", folder / "list.csv", "--dry-run"}, 2, "leave one away");
  refused({"--dry-run"}, 2, "SLIDES are missing");
}

TEST_CASE("tiles are stored as JPEGs, as PNGs, or as pixels") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  const auto kind = [&](const std::string& out, const std::string& encoding) {
    const ToolResult made =
        slides.tile({folder / "in", "--out", folder / out, "--size", "64", "--encoding", encoding, "--json"});
    CAPTURE(made.err);
    REQUIRE(made.status == 0);
    return tool({"inspect", made.json()["store"].text(), "--json"}).json();
  };
  CHECK(kind("j.lmdb", "jpeg")["images"]["jpeg"] == 32);
  CHECK(kind("p.lmdb", "png")["images"]["png"] == 32);
  CHECK(kind("p.tar", "png")["images"]["png"] == 32);
  for (const std::string out : {"n.lmdb", "n.h5"})
    CHECK(kind(out, "none")["schema"].text().find("image: u8[64, 64, 3]") != std::string::npos);
}

TEST_CASE("a folder of tiles has a file for each, and a table of the rest") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  folder.write("t.csv", "slide,label\na,x\n\"b, c\",y\nd,x\n");
  const std::vector<std::string> words{folder / "in", "--out", folder / "tiles/", "--form",        "folder",
                                       "--size",      "64",    "--labels",        folder / "t.csv"};
  REQUIRE(slides.tile(words).status == 0);
  CHECK(std::filesystem::file_size(folder / "tiles/b, c/000064_000128.jpg") > 100);
  const std::string table = text_in(folder / "tiles/records.csv");
  CHECK(table.starts_with("file,label,slide,x,y\na/000000_000000.jpg,x,0,0,0\n"));
  CHECK(table.find("\n\"b, c/000064_000128.jpg\",y,1,128,64\n") != std::string::npos);
  CHECK(std::count(table.begin(), table.end(), '\n') == 33);
  const auto inspected = tool({"inspect", folder / "tiles", "--json"}).json();
  CHECK(inspected["records"] == 32);
  CHECK(inspected["images"]["jpeg"] == 32);
  CHECK(slides.tile(words).out.find("is finished already") != std::string::npos);
  CHECK(slides.tile({folder / "in", "--out", folder / "in/a.svs", "--form", "folder"}).status == 2);
  CHECK(slides.tile({folder / "in", "--out", folder / "x", "--form", "folder", "--shard-samples", "5"}).status == 2);
  CHECK(slides.tile({folder / "in", "--out", folder / "x", "--form", "box"}).status == 2);
  const ToolResult pixels =
      slides.tile({folder / "in", "--out", folder / "x", "--form", "folder", "--size", "64", "--encoding", "none"});
  CHECK(pixels.status == 2);
  CHECK(one_line(pixels.err));
}

TEST_CASE("tile takes no more memory than it is told, and 64 MiB a thread") {
  const TempFolder folder;
  const std::string slide = folder / "wide.svs";
  REQUIRE(make_slides({slide, "--size", "40000x1500", "--repeat"}).status == 0);
  constexpr std::uint64_t mib = 1 << 20;
  // Two rows of the file's tiles, which places between them share, have 59 MiB.
  std::uint64_t small = 0;
  for (const auto& [memory, threads] : {std::pair<std::uint64_t, std::uint64_t>{64, 1}, {64, 2}, {1024, 2}}) {
    const ToolResult made = tool({"tile", slide, "--out", folder / fmt::format("{}-{}.tar", memory, threads), "--size",
                                  "256", "--overlap", "100", "--memory", fmt::format("{}MiB", memory), "--threads",
                                  std::to_string(threads), "--no-thumbnails"});
    CAPTURE(memory, threads, made.err);
    REQUIRE(made.status == 0);
    CHECK(made.peak_bytes <= (memory + 64 * threads) * mib);
    if (memory == 64) small = std::max(small, made.peak_bytes);
    // What would have been enough is not kept back.
    if (memory == 1024) CHECK(made.peak_bytes > small + 20 * mib);
  }
  CHECK(tool({"tile", slide, "--out", folder / "x.tar", "--memory", "1MiB"}).status == 2);
}

TEST_CASE("json is true in a file of settings where --json alone is meant") {
  const Slides slides;
  const TempFolder& folder = slides.folder;
  folder.write("s.toml",
               fmt::format("slides = \"{0}/in/a.svs\"\nout = \"{0}/t.lmdb\"\njson = true\n", folder.path().string()));
  const ToolResult made = slides.tile({"--settings", folder / "s.toml"});
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  CHECK(made.json()["finished"] == true);
}
