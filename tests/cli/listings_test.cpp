// SPDX-License-Identifier: Apache-2.0
// What a folder is listed by: each kind of store, and each command. What is hidden or an operating system's is skipped,
// and what else is passed over is told.
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>
#include <penstock/sources/webdataset.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
namespace fs = std::filesystem;

namespace {

struct Listing {
  std::string kind;                // as inspect says it
  std::string taken, upper;        // names of files that are taken
  std::size_t records;             // in all
  std::vector<std::string> makes;  // arguments that make the file x{0} of images
};

// Two images a file, in either class.
void write_two(const TempFolder& folder) {
  folder.write("two/cat/1.jpg", jpeg(1));
  folder.write("two/dog/2.jpg", jpeg(2));
}

// Skipped, in a folder where names end so.
void write_skipped(const TempFolder& folder, const std::string& below, const std::string& taken) {
  const std::string ending = fs::path(taken).extension().string();
  for (const std::string& name : {".hidden" + ending, "._a" + ending, std::string(".DS_Store"),
                                  std::string("Thumbs.db"), std::string("DESKTOP.INI"), std::string("Icon\r")})
    folder.write(below + "/" + name, "x");
  for (const char* const name : {"__MACOSX", "@eaDir", ".ipynb_checkpoints", "lost+found", "System Volume Information",
                                 "$RECYCLE.BIN", "#recycle"})
    folder.write(below + "/" + name + "/x" + ending, "x");
}

bool tells(const Json& lines, const std::string& text) {
  for (const Json& line : lines)
    if (line.text().find(text) != std::string::npos) return true;
  return false;
}

std::string in(const TempFolder& folder, const std::string& name) { return folder / name; }

}  // namespace

TEST_CASE(
    "a folder of shards, HDF5 files or slides is listed by one rule, and each command tells what it passes over") {
  const std::vector<Listing> listings{
      {"webdataset", "a.tar", "B.TAR", 4, {"convert"}},
      {"hdf5", "a.h5", "B.HDF5", 4, {"convert"}},
      {"slide", "a.svs", "B.QPTIFF", 2, {}},
  };
  for (const Listing& listing : listings) {
    CAPTURE(listing.kind);
    const TempFolder folder;
    write_two(folder);
    fs::create_directory(folder / "f");
    if (listing.kind == "slide") {
      write_slide(in(folder, "f/" + listing.taken), {.width = 64, .height = 64});
    } else {
      REQUIRE(tool({"convert", in(folder, "two"), "--out", in(folder, "f/" + listing.taken)}).status == 0);
      if (!fs::exists(in(folder, "f/" + listing.taken)))
        fs::rename(in(folder, "f/a-000000.tar"), in(folder, "f/" + listing.taken));
    }
    fs::copy_file(in(folder, "f/" + listing.taken), in(folder, "f/" + listing.upper));
    if (listing.kind == "slide") {
      // Another one, and not the same file of another name.
      write_slide(in(folder, "f/" + listing.upper), {.width = 64, .height = 64});
    }
    write_skipped(folder, "f", listing.taken);
    const std::string ending = fs::path(listing.taken).extension().string();
    folder.write("f/c" + ending + ".gz", "x");
    folder.write("f/d" + ending + ".GZ", "x");
    folder.write("f/notes.txt", "x");
    folder.write("f/README", "x");
    folder.write("f/sub/e" + ending, "x");
    const std::string passed = "passed over: 4 files (.gz 2, .txt 1, no ending 1), 1 folder";
    const std::string f = folder / "f";

    const ToolResult inspected = tool({"inspect", f, "--json"});
    CAPTURE(inspected.err);
    REQUIRE(inspected.status == 0);
    CHECK(inspected.json()["kind"] == listing.kind);
    CHECK(inspected.json()["records"] == listing.records);
    CHECK(tells(inspected.json()["passed_over"], passed));
    CHECK(tool({"inspect", f}).out.find(passed) != std::string::npos);

    const ToolResult verified = tool({"verify", f, "--json"});
    CHECK(verified.status == 0);
    CHECK(verified.json()["read"] == listing.records);
    CHECK(tells(verified.json()["passed_over"], passed));
    CHECK(tool({"verify", f}).out.find(passed) != std::string::npos);

    const ToolResult converted = tool({"convert", f, "--out", folder / "out.lmdb", "--keys", "position", "--json"});
    CHECK(converted.status == 0);
    CHECK(converted.json()["written"] == listing.records);
    CHECK(tells(converted.json()["notes"], passed));

    const ToolResult bench =
        tool({"bench", f, "--stages", "take 1 | ragged image | batch 1", "--epochs", "1", "--threads", "1"});
    CAPTURE(bench.err);
    if (listing.kind != "slide") CHECK(bench.out.find(passed) != std::string::npos);

    if (listing.kind != "slide") continue;
    const ToolResult tiled = tool({"tile", f, "--out", folder / "t.lmdb", "--size", "64", "--no-sync", "--json"});
    CHECK(tiled.status == 0);
    CHECK(tiled.json()["written"] == 2);
    CHECK(tells(tiled.json()["notes"], passed));
    CHECK(tool({"tile", f, "--size", "64", "--dry-run"}).out.find(passed) != std::string::npos);
    CHECK(tool({"tile", f, "--size", "64", "--pictures", folder / "p"}).out.find(passed) != std::string::npos);
    CHECK(tool({"index", f, "--size", "64", "--out", folder / "i.tiles"}).out.find(passed) != std::string::npos);
    // What somebody names is taken.
    fs::copy_file(in(folder, "f/a.svs"), in(folder, ".own.svs"));
    CHECK(tool({"inspect", in(folder, ".own.svs"), "--json"}).json()["records"] == 1);
  }
}

TEST_CASE("a folder of images is listed by the same rule, and folders of the system's are no classes") {
  const TempFolder folder;
  folder.write("f/cat/a.jpg", jpeg(1));
  folder.write("f/cat/B.JPG", jpeg(2));
  folder.write("f/dog/a.jpg", jpeg(3));
  fs::create_directories(folder / "f/empty");
  fs::create_directories(folder / "f/none");
  for (const char* const below : {"f", "f/cat", "f/dog"}) write_skipped(folder, below, "a.jpg");
  folder.write("f/cat/c.jpg.gz", "x");
  folder.write("f/dog/notes.txt", "x");
  folder.write("f/dog/README", "x");
  folder.write("f/dog/more.TXT", "x");
  const std::string passed = "passed over: 4 files (.txt 2, .gz 1, no ending 1)", f = folder / "f";
  const Json classes(std::vector<std::string>{"cat", "dog", "empty", "none"});

  const ToolResult inspected = tool({"inspect", f, "--json"});
  CAPTURE(inspected.err);
  REQUIRE(inspected.status == 0);
  CHECK(inspected.json()["records"] == 3);
  CHECK(tells(inspected.json()["passed_over"], passed));
  CHECK(inspected.json()["empty_classes"] == Json(std::vector<std::string>{"empty", "none"}));
  const std::string text = tool({"inspect", f}).out;
  CHECK(text.find(passed) != std::string::npos);
  CHECK(text.find("2 classes without a file: empty, none\n") != std::string::npos);
  const ToolResult packed = tool({"pack", f, "--out", folder / "p.lmdb", "--json"});
  CHECK(packed.json()["written"] == 3);
  CHECK(packed.json()["classes"] == classes);
  CHECK(packed.json()["ignored"] == 4);
  CHECK(tells(packed.json()["notes"], passed));
  CHECK(tells(tool({"convert", f, "--out", folder / "c.lmdb", "--json"}).json()["notes"], passed));
  CHECK(tool({"verify", f}).out.find(passed) != std::string::npos);
  CHECK(tool({"bench", f, "--epochs", "1", "--stages", "take 1 | ragged image | batch 1"}).out.find(passed) !=
        std::string::npos);
  // Named, they are taken.
  folder.write("labels.csv", "cat/.hidden.jpg,1\ncat/a.jpg,2\n");
  CHECK(tool({"pack", f, "--out", folder / "l.lmdb", "--labels", folder / "labels.csv", "--json"}).json()["written"] ==
        2);
}

TEST_CASE("what is a part of a slide, or a store of one's own, is not passed over") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 64, .height = 64});
  for (const char* const part :
       {"f/v.vms", "f/v.opt", "f/v(1,0).jpg", "f/v_map2.jpg", "f/m.mrxs", "f/m/Data0000.dat", "f/o.vsi", "f/_o_/1.ets",
        "f/s.lmdb/data.mdb", "f/s.lmdb-report/run.json", "f/notes.txt"})
    folder.write(part, "x");
  fs::copy_file(folder / "a.svs", folder / "f/a.svs");
  const ToolResult told = tool({"tile", folder / "f", "--size", "64", "--dry-run", "--json"});
  CHECK(told.json()["slides"].size() == 4);
  CHECK(tells(told.json()["notes"], "passed over: 1 file (.txt 1);"));
}

TEST_CASE("a folder with the name of a slide that has none, and files of another, are passed over and counted") {
  const TempFolder folder;
  fs::create_directory(folder / "f");
  write_slide(folder / "f/P1.svs", {.width = 64, .height = 64});
  for (const char* const other :
       {"f/P1/x.svs", "f/_P1_/x.svs", "f/1.vms", "f/1.opt", "f/1(0,1).jpg", "f/1_map2.jpg", "f/1_macro.jpg", "f/10.txt",
        "f/1(0,1).txt", "f/1_scan.jpg", "f/2.mrxs", "f/_2_/x.ets", "f/3.vsi", "f/3/x.svs"})
    folder.write(other, "x");
  const ToolResult told = tool({"tile", folder / "f", "--size", "64", "--dry-run", "--json"});
  CHECK(told.json()["slides"].size() == 4);
  CHECK(tells(told.json()["notes"], "passed over: 3 files (.txt 2, .jpg 1), 4 folders;"));
}

TEST_CASE("plain pictures in a folder of slides are passed over, counted, and end nothing") {
  const TempFolder folder;
  fs::create_directory(folder / "f");
  write_slide(folder / "f/a.svs", {.width = 64, .height = 64});
  for (const char* const picture : {"f/a.jp2", "f/a.j2k", "f/a.jpg", "f/a.png"}) folder.write(picture, "x");
  const ToolResult tiled =
      tool({"tile", folder / "f", "--out", folder / "t.lmdb", "--size", "64", "--no-sync", "--json"});
  CHECK(tiled.status == 0);
  CHECK(tiled.json()["written"] == 1);
  CHECK(tells(tiled.json()["notes"], "passed over: 4 files (.j2k 1, .jp2 1, .jpg 1, .png 1);"));
}

TEST_CASE("paths in a list of slides have no spaces around them") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 64, .height = 64});
  write_slide(folder / ".b.svs", {.width = 64, .height = 64});
  folder.write("list", " a.svs \n# none\n\t.b.svs\t\r\n");
  folder.write("list.CSV", " x , path \n1, a.svs \n2,.b.svs\t\n");
  for (const std::string list : {"list", "list.CSV"}) {
    const ToolResult told = tool({"tile", "--list", in(folder, list), "--size", "64", "--dry-run", "--json"});
    CAPTURE(list, told.err);
    CHECK(told.status == 0);
    CHECK(told.json()["tiles"] == 2);
  }
}

TEST_CASE("a folder with nothing that is taken says what lies there") {
  const TempFolder folder;
  folder.write("f/a.txt", "x");
  folder.write("f/sub/b.svs", "x");
  for (const std::string command : {"tile", "index"}) {
    const ToolResult refused = tool({command, folder / "f", "--out", folder / "o.lmdb"});
    CAPTURE(command);
    CHECK(refused.status == 1);
    CHECK(refused.err.find("only 1 file (.txt 1), 1 folder") != std::string::npos);
  }
  CHECK(tool({"pack", folder / "f", "--out", folder / "o.lmdb"}).err.find("only 2 files (.svs 1, .txt 1)") !=
        std::string::npos);
}

TEST_CASE("what a system puts into a folder keeps nobody from writing there") {
  const TempFolder folder;
  write_two(folder);
  for (const std::string out : {"o.lmdb", "folder"}) {
    folder.write(out + "/.DS_Store", "x");
    folder.write(out + "/Thumbs.db", "x");
    folder.write(out + "/lost+found/x", "x");
    const ToolResult converted =
        tool({"convert", folder / "two", "--out", in(folder, out) + (out == "folder" ? "/" : "")});
    CAPTURE(out, converted.err);
    CHECK(converted.status == 0);
    CHECK(tool({"inspect", in(folder, out), "--json"}).json()["records"] == 2);
  }
}

TEST_CASE("pack tells which files lie in other folders, where links lead") {
  const TempFolder folder;
  write_two(folder);
  folder.write("other/3.jpg", jpeg(3));
  folder.write("other/4.jpg", jpeg(4));
  const ToolResult none = tool({"pack", folder / "two", "--out", folder / "n.lmdb", "--json"});
  CHECK(none.json()["links_out"] == 0);
  fs::create_symlink("1.jpg", folder / "two/cat/inside.jpg");
  fs::create_directory_symlink(folder / "other", folder / "two/elk");
  fs::create_symlink(folder / "other/3.jpg", folder / "two/cat/outside.jpg");
  const ToolResult packed = tool({"pack", folder / "two", "--out", folder / "p.lmdb", "--json"});
  CHECK(packed.json()["links_out"] == 3);
  CHECK(tells(packed.json()["notes"],
              "links: 3 files lie in other folders, where links lead, the first: cat/outside.jpg"));
}

TEST_CASE("pack asks of links alone where they lead") {
  const TempFolder folder;
  write_images(folder, 2, 40);
  fs::create_directories(folder / "images/class_1/more");
  folder.write("images/class_1/more/z.jpg", jpeg(1));
  fs::create_symlink("0001.jpg", folder / "images/class_1/link.jpg");
  fs::create_directory_symlink("class_1", folder / "images/other");
  ::setenv("PENSTOCK_TEST_LOOKS", (folder / "looks").c_str(), 1);
  ::setenv("LD_PRELOAD", path_of("failing_read").c_str(), 1);
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "p.lmdb", "--json"});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("PENSTOCK_TEST_LOOKS");
  CHECK(packed.json()["links_out"] == 0);
  std::vector<std::string> looked_at;
  std::istringstream lines(text_in(folder / "looks"));
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(".jpg")) looked_at.push_back(line);
  CHECK(looked_at == std::vector<std::string>{folder / "images/class_1/link.jpg", folder / "images/other/link.jpg"});
}

TEST_CASE("shards are read by the name that is printed, whatever characters are in it") {
  for (const std::string name : {"run[1]", "{a,b}*\\?"}) {
    for (const std::string& out : {name + "/s.tar", name + "/s.h5", name + "/s.lmdb", name + "/s/",
                                   name + "/" + name + ".tar", name + "/" + name + ".h5"}) {
      const TempFolder folder;
      write_two(folder);
      folder.write("two/dog/3.jpg", jpeg(3));
      fs::create_directory(in(folder, name));
      const bool is_sharded = out.ends_with(".tar") || out.ends_with(".h5");
      std::vector<std::string> words{"convert", folder / "two", "--out", in(folder, out), "--json"};
      if (is_sharded) words.insert(words.end(), {"--shard-samples", "1"});
      const ToolResult converted = tool(words);
      CAPTURE(out, converted.err);
      REQUIRE(converted.status == 0);
      const auto store = converted.json()["store"].text();
      CAPTURE(store);
      const ToolResult inspected = tool({"inspect", store, "--json"});
      CHECK(inspected.status == 0);
      if (inspected.status == 0) CHECK(inspected.json()["records"] == 3);
      if (!is_sharded) continue;
      CHECK(tool({"bench", store, "--stages", "take 1 | ragged image | batch 1", "--epochs", "1", "--cold"}).status ==
            0);
      const ToolResult merged = tool({"merge", in(folder, name) + "/*" + fs::path(out).extension().string(), "--out",
                                      folder / "all.json", "--json"});
      CAPTURE(merged.err);
      CHECK(merged.status == 0);
      if (out.ends_with(".tar")) CHECK(WebDatasetSource({.path = store}).size() == 3);
    }
    const TempFolder folder;
    fs::create_directory(in(folder, name));
    write_slide(in(folder, name) + "/a.tif", {.width = 64, .height = 64});
    CHECK(SlideSource({.files = in(folder, name) + "/*.tif", .size = 64}).slides().size() == 1);
    CHECK(tool({"inspect", in(folder, name) + "/*.tif", "--json"}).json()["records"] == 1);
    folder.write(name + "/t-1.csv", "a\n1\n");
    CHECK(tool({"inspect", in(folder, name) + "/t-*.csv", "--json"}).json()["records"] == 1);
  }
}

}  // namespace PENSTOCK_TEST_FILE
