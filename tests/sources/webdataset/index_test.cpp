// SPDX-License-Identifier: Apache-2.0
// Index files that are written, against those that a program of Python's tarfile alone makes.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_index.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/killed_writer.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::string index_by_python(const std::string& shard) {
  const std::string file = shard + ".by-python";
  if (!runs(std::string(python) + " " + path_of("wds2idx.py") + " " + shard + " " + file))
    throw std::runtime_error("there is no index file of " + shard);
  return file_text(file);
}

void write_by(const WebDatasetSinkOptions& options, const std::vector<LabelledItem>& items) {
  WebDatasetSink sink(options);
  write_and_tell(sink, items, {});
}

}  // namespace

TEST_CASE("index files have the bytes that wds2idx documents") {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "in" / "sub");
  for (const char* name :
       {"in/a.jpg", "in/a.seg.png", "in/b.jpg", "in/.hidden.jpg", "in/sub/c.JPG", "in/sub/c.cls", "in/README"})
    folder.write(name, std::string(name) + std::string(1500, 'x'));
  folder.write("in/empty.cls", "");
  const std::string in = folder / "in";
  const auto tar = [&](const std::string& name, const std::string& flags) {
    REQUIRE(runs("tar --sort=name " + flags + " -cf " + folder / name + " -C " + in + " ."));
  };
  tar("gnu.tar", "--format=gnu"), tar("ustar.tar", "--format=ustar"), tar("pax.tar", "--format=pax");
  folder.write("make.py",
               "import io, sys, tarfile\n"
               "with tarfile.open(sys.argv[1], 'w') as tar:\n"
               "    for i in range(300):\n"
               "        for ending in ('jpg', 'cls'):\n"
               "            member = tarfile.TarInfo(f'{\"deep/\" * (i % 40)}{i:05}.{ending}')\n"
               "            member.size, member.mtime = i * 37 % 1500, 1700000000.25\n"
               "            tar.addfile(member, io.BytesIO(bytes(member.size)))\n");
  REQUIRE(runs(std::string(python) + " " + folder / "make.py" + " " + folder / "python.tar"));
  write_by({.path = folder / "sink", .max_samples = 40, .job = "test"}, shard_items(100));
  std::vector<std::string> shards;
  for (const char* name : {"gnu", "ustar", "pax", "python", "sink-000000", "sink-000001", "sink-000002"})
    shards.push_back(folder / (std::string(name) + ".tar"));
  WebDatasetIndex options{.shards = shards};
  const WebDatasetIndexed made = write_index_files(options);
  CHECK(made.written == shards.size());
  CHECK(made.samples == 3 * 5 + 300 + 100);
  REQUIRE(made.files.size() == shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    INFO(shards[i]);
    CHECK(made.files[i] == shards[i].substr(0, shards[i].size() - 4) + ".idx");
    CHECK(file_text(made.files[i]) == index_by_python(shards[i]));
    CHECK_FALSE(std::filesystem::exists(made.files[i] + ".new"));
  }
  // A folder of its own, a pattern, and files that are right already.
  CHECK(write_index_files(options).written == 0);
  CHECK(write_index_files({.shards = {folder / "sink-{000000..000002}.tar", folder / "p*.tar"}}).written == 0);
  const WebDatasetIndexed elsewhere =
      write_index_files({.shards = {folder.path().string()}, .folder = folder / "new/idx"});
  CHECK(elsewhere.written == shards.size());
  CHECK(file_text(folder / "new/idx/gnu.idx") == file_text(folder / "gnu.idx"));
  // They do not count as strange files beside the shards.
  CHECK(WebDatasetSource({.path = folder / "new/.."}).passed_over().find("idx") == std::string::npos);
}

TEST_CASE("an old index file is replaced, and another file is not") {
  const TempFolder folder;
  folder.write("a.tar", tar_member("a.txt", "one") + tar_end);
  const WebDatasetIndex options{.shards = {folder / "a.tar"}};
  const std::string right = "v1.2 1\ntxt 512 3 a.txt\n";
  for (const char* old : {"v1.2 1\ntxt 512 9 a.txt\n", "v1.1 1\ntxt 512 3\n", ""}) {
    folder.write("a.idx", old);
    CHECK(write_index_files(options).written == 1);
    CHECK(file_text(folder / "a.idx") == right);
  }
  folder.write("a.idx", "mine");
  const Error mine = error_of([&] { write_index_files(options); });
  CHECK(mine.code() == Errc::invalid_argument);
  CHECK(mine.file() == folder / "a.idx");
  CHECK(file_text(folder / "a.idx") == "mine");
}

TEST_CASE("shards of which there is no index file are refused") {
  const TempFolder folder;
  struct Case {
    const char* name;
    std::string tar;
    Errc code;
    const char* says;
  };
  const std::string one = tar_member("a.txt", "one");
  for (const auto& [name, tar, code, says] :
       {Case{"space.tar", one + tar_member("b c.txt", "") + tar_end, Errc::unsupported, "b c.txt"},
        Case{"line.tar", one + tar_member("b\n.txt", "") + tar_end, Errc::unsupported, "line break"},
        Case{"return.tar", one + tar_member("b.txt\r", "") + tar_end, Errc::unsupported, "line break"},
        Case{"sparse.tar",
             one + tar_member("x", pax_record("GNU.sparse.major", "1"), 'x') + tar_member("b.txt", "") + tar_end,
             Errc::unsupported, "sparse"},
        Case{"link.tar", one + tar_member("b.txt", "", '1') + tar_end, Errc::unsupported, "\"b.txt\" is named like"},
        Case{"symlink.tar", one + tar_member("a.txt", "", '2') + tar_end, Errc::unsupported, "no file"},
        Case{"device.tar", tar_member("b.cls", "", '3') + one + tar_end, Errc::unsupported, "b.cls"},
        Case{"holes.tar", one + tar_member("b.txt", "", 'S') + tar_end, Errc::unsupported, "sparse"},
        Case{"pipe.tar", one + tar_member("b.d", "", '6') + tar_end, Errc::unsupported, "b.d"},
        Case{"unknown.tar", one + tar_member("b.txt", "two", '~') + tar_end, Errc::unsupported, "b.txt"},
        Case{"empty.tar", tar_end, Errc::invalid_argument, "no samples"},
        Case{"hidden.tar", tar_member(".a.txt", "") + tar_member("d/", "", '5') + tar_end, Errc::invalid_argument,
             "no samples"},
        Case{"tail.tar", one + tar_member("d/.b", std::string(2 << 20, 'x')) + tar_end, Errc::unsupported, "follow"},
        Case{"cut.tar", one.substr(0, 514), Errc::corrupt, "truncated"},
        Case{"a.bin", one + tar_end, Errc::invalid_argument, ".tar"}}) {
    INFO(name);
    folder.write(name, tar);
    const Error error = error_of([&] { write_index_files({.shards = {folder / name}}); });
    CHECK(error.code() == code);
    CHECK(mentions(error, says));
    CHECK(error.file() == folder / name);
    CHECK_FALSE(std::filesystem::exists(folder.path() / std::filesystem::path(name).replace_extension(".idx")));
  }
  folder.write("x/a.tar", one + tar_end), folder.write("y/a.tar", one + tar_end);
  CHECK(write_index_files({.shards = {folder / "x", folder / "y/a.tar"}}).written == 2);
  CHECK(code_of([&] {
          write_index_files({.shards = {folder / "x", folder / "y/a.tar"}, .folder = folder / "both"});
        }) == Errc::invalid_argument);
  CHECK(code_of([&] { write_index_files({.shards = {folder / "x", folder / "x/a.tar"}}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { write_index_files({.shards = {"https://host/a.tar"}}); }) == Errc::unsupported);
  CHECK(code_of([&] { write_index_files({.shards = {folder / "none.tar"}}); }) == Errc::not_found);
  folder.write("t.tar-unfinished.json", "{}"), folder.write("t-000000.tar", one + tar_end);
  CHECK(code_of([&] { write_index_files({.shards = {folder / "t-000000.tar"}}); }) == Errc::invalid_argument);
}

TEST_CASE("the sink writes index files beside its shards") {
  const TempFolder folder;
  const WebDatasetSinkOptions options{.path = folder / "with/t", .max_samples = 30, .job = "test", .index = true};
  write_by(options, shard_items(100));
  for (int shard = 0; shard < 4; ++shard) {
    const std::string stem = folder / ("with/t-00000" + std::to_string(shard));
    CHECK(file_text(stem + ".idx") == index_by_python(stem + ".tar"));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "with/t-000004.idx"));
  WebDatasetSinkOptions empty = options;
  empty.path = folder / "empty/t";
  write_by(empty, {});
  CHECK_FALSE(std::filesystem::exists(folder.path() / "empty/t-000000.idx"));
  WebDatasetSinkOptions spaced = options;
  spaced.path = folder / "spaced/t";
  const Error error = error_of([&] { write_by(spaced, {{"a b", "bytes", 1}}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "space"));
  spaced.path = folder / "numbered/t";
  spaced.keys = WebDatasetKeys::position;
  write_by(spaced, {{"a b", "bytes", 1}});
  CHECK(std::filesystem::exists(folder.path() / "numbered/t-000000.idx"));
}
