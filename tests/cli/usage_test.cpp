// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("help and version") {
  const ToolResult help = tool({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.find("Exit status") != std::string::npos);
  for (const std::string command : {"pack", "bench", "report", "inspect", "verify"}) {
    CHECK(help.out.find(command) != std::string::npos);
    CHECK(tool({command, "--help"}).status == 0);
  }
  CHECK(tool({"bench", "--help"}).out.find("random_resized_crop <size N|HxW>") != std::string::npos);
  CHECK(tool({"--version"}).status == 0);
}

TEST_CASE("a wrong command line: status 2 and one line that says what") {
  const TempFolder folder;
  write_images(folder, 2, 4);
  const std::string images = folder / "images";
  const auto bench = [&](const std::string& stages) {
    return std::vector<std::string>{"bench", images, "--stages", stages};
  };
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {{}, "a command is missing: pack, convert, tile, index, merge, bench, report, inspect and verify"},
           {{"--frob"}, "there is no option --frob"},
           {{"--frob", "pack"}, "there is no option --frob"},
           {{"-x", "pack"}, "there is no option -x"},
           {{"--json", "pack"}, "--json stands after the command"},
           {{"inspekt", images}, "did you mean inspect?"},
           {{"pack", images, "--ou", "x"}, "pack has no option --ou; did you mean --out?"},
           {{"verify", images, "--quite"}, "did you mean --quiet?"},
           {{"pack", images, "--out"}, "--out lacks its value"},
           {{"verify", "a.tar", "b.tar"}, "\"b.tar\" is one too many; several files are named by a pattern"},
           {{"convert", images, "--out", images}, "is " + images + " itself"},
           {bench("decode_jpeg | resize 8 | normalize mean=0.1,0.2 std=0.5 | batch 2"),
            "normalize has 2 means and 1 std for an image of 3 channels"},
           {bench("decode_jpeg | resize 8 | normalize mean=inf | batch 2"), "normalize"},
           {{"fly"}, "\"fly\""},
           {{"bench", images, "--seed", "-1"}, "\"-1\" is not a whole number"},
           {{"bench", images, "--seed", "18446744073709551616"}, "64 bits"},
           {{"bench", images, "--epochs", "-1"}, "--epochs"},
           {{"bench", images, "--depth", "-1"}, "--depth"},
           {{"bench", images, "--memory", "-1"}, "-1"},
           {{"bench", images, "--threads", "-1"}, "-1"},
           {{"verify", images, "--threads", "-1"}, "--threads"},
           {{"inspect", images, "--count", "-1"}, "--count"},
           {{"inspect", images, "--cell", "-1"}, "--cell"},
           {{"pack", images, "--out", folder / "x.lmdb", "--threads", "-1"}, "--threads"},
           {{"verify", images, "--field", "foo"}, "no field \"foo\"; the fields are {image: u8[?], label: i64[]}"},
           {{"verify", images, "--field", "foo", "--no-decode"}, "no field \"foo\""},
           {{"verify", images, "--field", "label"}, "no encoded images"},
           {{"inspect", images, "--field", "foo"}, "no field \"foo\""},
           {{"inspect", images, "--png", folder / "x.png", "--field", "foo"}, "no field \"foo\""},
           {{"bench", images, "--seed", "3", "--stages", "shuffle seed=4 | decode_jpeg | resize 8 | batch 2"},
            ">>shuffle seed=4<<"},
           {bench("decode_jpeg | batch 64"), ">>batch 64<<: field \"image\" is u8[?, ?, 3]"},
           {bench("decode_jpeg | resize 8 | batch 2 | shuffle"), ">>shuffle<<"},
           {bench("decode_jpeg | resize 8 | batch 2 | batch 2"), "at character 36"},
           {bench("decode_jpeg img | resize 8 | batch 2"), ">>decode_jpeg img<<"},
           {bench("decode_jpeg field=mask | batch 8"), "no field \"mask\""},
           {bench("resize 8 | batch 2"), "decode before it"},
           {bench("select 500 | decode_jpeg | resize 8 | batch 2"), ">>select 500<<"},
           {bench("split 0.5,0.5 7 | decode_jpeg | resize 8 | batch 2"), ">>split 0.5,0.5 7<<"},
           {bench("split 1,1 1 all_but=0 | decode_jpeg | resize 8 | batch 2"), "`part` and `all_but` are both set"},
           {{"pack"}, "DIR"},
           {{"pack", images}, "--out"},
           {{"pack", images, "--out", images + "/x.lmdb"}, "lies inside"},
           {{"verify", images, "--colour"}, "--colour"},
           {{"bench", images, "--threads", "none"}, "1..4"},
           {{"bench", images, "--threads", "4..1"}, "1..4"},
           {{"bench", images, "--threads", "0"}, "from 1"},
           {{"bench", images, "--memory", "much"}, "2GiB"},
           {{"bench", images, "--on-error", "ignore"}, "replace"},
           {{"bench", images, "--epochs", "0"}, "epochs"},
           {bench("decode_jpeg | resiz 224 | batch 8"),
            "at character 15: decode_jpeg | >>resiz<< 224 | batch 8: there is no such stage; did you mean resize?"},
           {bench("decode_jpeg | resize 224"), "| batch 64"},
           {bench("decode_jpeg | resize | batch 8"), "resize <size N|HxW>"},
           {bench("decode_jpeg | resize 1y2 | batch 8"), ">>1y2<<"},
           {bench("decode_jpeg | resize 8 image 10 | batch 8"), ">>10<<"},
           {bench("decode_jpeg | resize 8 9 | batch 8"),
            "resize 8 >>9<< | batch 8: what stands here is the name of a field, and this is a number; resize takes "
            "<size N|HxW> [field=image,mask|mask:nearest|boxes:boxes], and a size of height x width is one word, like "
            "160x224 "
            "(write field=9 "
            "for a field of that name)"},
           {bench("decode_jpeg | random_flip 0.5 0.5 | batch 8"), ">>0.5<< | batch 8: what stands here is the name"},
           {bench("decode_jpeg | resize 8 field=9 | batch 8"), "there is no field \"9\""},
           {bench("decode_jpeg | random_resized_crop 8 9 | batch 8"),
            ">>9<< | batch 8: this is not two numbers, least and greatest; write them like 0.2,1"},
           {bench("decode_jpeg | resize size=8 size=9 | batch 8"), "twice"},
           {bench("decode_jpeg | resize 8 mask=m | batch 8"), "no such argument"},
           {bench("decode_jpeg | random_flip 2 | batch 8"), ">>random_flip 2<<"},
           {bench("decode_jpeg | | batch 8"), "a stage is missing here"},
           {bench("decode_jpeg(image) | batch 8"), "without brackets"},
           {bench("decode_jpeg | resize 8 | batch 8 tail=cut"), "one of keep, drop, pad"},
           {bench(""), "a stage is missing here"},
       }) {
    const ToolResult result = tool(c.arguments);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
    CHECK(result.err.find(c.says) != std::string::npos);
    CHECK(result.out.empty());
  }
}

TEST_CASE("what fails while running: status 1 and one line that says what") {
  const TempFolder folder;
  write_images(folder, 2, 4);
  folder.write("noise.lmdb/data.mdb", std::string(20000, 'x'));
  folder.write("line\nbreak/data.mdb", "short");
  folder.write("empty/nothing.txt", "");
  folder.write("mixed/c/1.jpg", jpeg(1));
  folder.write("mixed/stray.jpg", jpeg(1));
  CHECK(tool({"inspect", folder / "mixed"}).err.find("1 file lies in the folder itself") != std::string::npos);
  CHECK(tool({"inspect", folder / "mixed/stray.jpg"}).err.find("none of the stores that are known") !=
        std::string::npos);
  const std::string images = folder / "images";
  const std::vector<std::string> stores{folder / "missing", folder / "noise.lmdb", folder / "line\nbreak",
                                        folder / "empty"};
  for (const std::string& store : stores)
    for (const std::string command : {"bench", "inspect", "verify"}) {
      const ToolResult result = tool({command, store});
      INFO(result.err);
      CHECK(result.status == 1);
      CHECK(one_line(result.err));
    }
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"pack", folder / "missing", "--out", folder / "x.lmdb"},
           {"pack", folder / "empty", "--out", folder / "x.lmdb"},
           {"pack", images, "--out", "/proc/x.lmdb"},
           {"bench", images, "--stages", "decode_jpeg | resize 224 | batch 64", "--memory", "1M"},
           {"inspect", images, "--png", "/proc/sheet.png"},
       }) {
    const ToolResult result = tool(arguments);
    INFO(result.err);
    CHECK(result.status == 1);
    CHECK(one_line(result.err));
  }
}

TEST_CASE("one is not many") {
  const TempFolder folder;
  write_images(folder, 1, 1);
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).out.find("1 record of 1 class; 1 written") !=
        std::string::npos);
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).out.find("1 record: nothing to do") !=
        std::string::npos);
  CHECK(tool({"verify", folder / "x.lmdb"}).out.find("1 record read, 1 decoded") != std::string::npos);
  const ToolResult bench =
      tool({"bench", folder / "x.lmdb", "--threads", "1,1", "--stages", "decode_jpeg | resize 8 | batch 1", "-q"});
  CHECK(bench.out.find("median: 1 thread,") != std::string::npos);
  CHECK(tool({"help"}).status == 0);
}

TEST_CASE("what is said of a contact sheet is refused where none is to be drawn") {
  const TempFolder folder;
  write_images(folder, 2, 4);
  for (const std::string option : {"--count", "--cell"}) {
    const ToolResult refused = tool({"inspect", folder / "images", option, "16"});
    CHECK(refused.status == 2);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find(option) != std::string::npos);
    CHECK(refused.err.find("--png") != std::string::npos);
    CHECK(tool({"inspect", folder / "images", option, "16", "--png", folder / "sheet.png"}).status == 0);
  }
}
