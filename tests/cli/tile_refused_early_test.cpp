// SPDX-License-Identifier: Apache-2.0
// What can't be made is told before a slide is opened, and before anything is written.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

struct Case {
  std::vector<std::string> options;
  std::string says;
};

}  // namespace

TEST_CASE("tile: what can't be written together is refused before slides are opened") {
  const TempFolder folder;
  fs::create_directory(folder / "in");
  write_slide(folder / "in/a.svs", {.width = 130, .height = 70});
  // Opening would say of these two that they are one.
  fs::create_symlink("a.svs", folder / "in/b.svs");
  folder.write("file", "x");
  folder.write("regions/a.geojson", "{}");
  folder.write("regions/b.geojson", "{}");
  folder.write("others/notes.txt", "x");
  const std::string out = folder / "out";
  for (const Case& c : std::vector<Case>{
           {{"--form", "folder", "--stain", "macenko"}, "--stain macenko goes with no --form folder"},
           {{"--form", "folder", "--stain", "reinhard"}, "--stain reinhard goes with no --form folder"},
           {{"--form", "folder", "--encoding", "none"}, "--encoding none goes with no --form folder"},
           {{"--form", "folder", "--regions", folder / "regions", "--region-field", "file"}, "a field \"file\" goes"},
           {{"--form", "folder", "--labels", folder / "file", "--columns", "file"}, "a field \"file\" goes"},
           {{"--out", out + ".h5", "--edges", "shrink", "--encoding", "none"}, "--edges shrink with --encoding none"},
           {{"--memory", "1MiB"}, "--memory: 64MiB at least"},
           {{"--memory", "lots"}, "\"lots\" is not a number of bytes"},
           {{"--report", out}, "--report " + out + " lies in --out " + out},
           {{"--report", out + "/report"}, "lies in --out"},
           {{"--report", folder / "x/../out/r"}, "lies in --out"},
           {{"--coords", out + "/"}, "--coords"},
           {{"--pictures", out + "/pictures"}, "--pictures"},
           {{"--form", "folder", "--pictures", out + "/pictures"}, "lies in --out"},
           {{"--report", folder / "file"}, "--report " + (folder / "file") + ": it is a file"},
           {{"--coords", folder / "file/x"}, "file is no folder"},
           {{"--pictures", folder / "file"}, "it is a file, and a folder is to be made"},
           {{"--json", folder / "file/x.json"}, "file is no folder"},
           {{"--json", folder / "in"}, "it is a folder, and a file is to be written"},
           {{"--out", folder / "file/x.lmdb"}, "file is no folder"},
           {{"--report", folder / "others"}, "the folder holds other things (notes.txt)"},
       }) {
    std::vector<std::string> words{"tile", folder / "in", "--size", "32"};
    if (c.options.front() != "--out") words.insert(words.end(), {"--out", out});
    words.insert(words.end(), c.options.begin(), c.options.end());
    const ToolResult refused = tool(words);
    CAPTURE(words, refused.err);
    CHECK(refused.status != 0);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find(c.says) != std::string::npos);
    CHECK_FALSE(fs::exists(out));
    CHECK_FALSE(fs::exists(out + "-report"));
    CHECK_FALSE(fs::exists(out + ".h5"));
  }
}

TEST_CASE("tile: fields of one name are refused before slides are opened") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 130, .height = 70});
  // A slide that is opened and can't be read would only be left out.
  const auto tile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"tile", folder / "a.svs", "--size", "32", "--out", folder / "out"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  };
  folder.write("t.csv", "slide,image\na,1\n");
  // Where each slide's regions are read as it is opened, this file would be what is told.
  folder.write("regions/a.geojson", "no JSON");
  const std::vector<std::string> regions{"--regions", folder / "regions", "--region-field", "class"};
  std::vector<std::string> both = regions;
  both.insert(both.end(), {"--labels", folder / "t.csv"});
  CHECK(tile(both).err.find("the column \"image\" has the name of a field that is there already") != std::string::npos);
  CHECK(tile({"--regions", folder / "regions", "--region-field", "x"}).err.find("a field that is there already") !=
        std::string::npos);
  // An index is read where slides would be opened.
  folder.write("bad.tiles", "no index");
  both.insert(both.end(), {"--index", folder / "bad.tiles"});
  CHECK(tile(both).err.find("the column \"image\" has the name of a field that is there already") != std::string::npos);
}

TEST_CASE("tile: an earlier run forbids before slides are opened") {
  const TempFolder folder;
  fs::create_directory(folder / "in");
  write_slide(folder / "in/a.svs", {.width = 130, .height = 70});
  folder.write("in/bad.svs", "no slide");
  const auto tile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"tile", folder / "in", "--size", "32"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  };
  for (const std::string out : {"tar.tar", "lmdb"}) REQUIRE(tile({"--out", folder / out, "-q"}).status == 3);
  fs::create_symlink("a.svs", folder / "in/b.svs");
  for (const Case& c : std::vector<Case>{
           {{"--out", folder / "lmdb", "--overlap", "8"}, "--overlap was not given, and is 8 now"},
           {{"--out", folder / "lmdb", "--on-error", "fail"}, "--on-error fail, but earlier runs left out 1 tile"},
           {{"--out", folder / "lmdb", "--report", folder / "tar.tar-report"}, "has the report of"},
           {{"--out", folder / "lmdb", "--report", folder / "new"}, "this folder says nothing of what it was made"},
       }) {
    const ToolResult refused = tile(c.options);
    CAPTURE(c.options, refused.err);
    CHECK(refused.status != 0);
    CHECK(refused.err.find(c.says) != std::string::npos);
  }
  // Of shards the first one says that there is a store.
  const ToolResult retry = tile({"--out", folder / "tar.tar", "--retry"});
  CAPTURE(retry.err);
  CHECK(retry.err.find("--retry: only an LMDB store takes tiles later") != std::string::npos);
}

TEST_CASE("each command says before it works that its result can't be written, and makes folders that are missing") {
  const TempFolder folder;
  write_images(folder, 1, 3);
  write_slide(folder / "a.svs", {.width = 130, .height = 70});
  folder.write("file", "x");
  const std::string images = folder / "images";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"verify", images, "--json=" + (folder / "file/x.json")},
           {"inspect", images, "--json=" + (folder / "file/x.json")},
           {"inspect", images, "--png", folder / "file/x.png"},
           {"pack", images, "--out", folder / "made/x.lmdb", "--json=" + (folder / "file/x.json")},
           {"pack", images, "--out", folder / "file/x.lmdb"},
           {"convert", images, "--out", folder / "made/x.lmdb", "--json=" + (folder / "file/x.json")},
           {"convert", images, "--out", folder / "file/x.tar"},
           {"index", folder / "a.svs", "--out", folder / "file/x.tiles"},
           {"index", folder / "a.svs", "--out", folder / "made/x.tiles", "--json=" + (folder / "file/x.json")},
           {"bench", images, "--stages", "decode_jpeg | resize 8 | batch 2", "--json=" + (folder / "file/x.json")}}) {
    const ToolResult refused = tool(words);
    CAPTURE(words, refused.err);
    CHECK(refused.status == 2);
    CHECK(refused.err.find("file is no folder; name another place") != std::string::npos);
    CHECK_FALSE(fs::exists(folder / "made"));
  }
  CHECK(tool({"verify", images, "-q", "--json=" + (folder / "new/deep/x.json")}).status == 0);
  CHECK(fs::exists(folder / "new/deep/x.json"));
}
