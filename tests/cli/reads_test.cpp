// SPDX-License-Identifier: Apache-2.0
// Commands that read write nothing but their output, and wait for nobody.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "stores/recorded_calls.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
constexpr const char* pictures = "decode_image | resize 32 | batch 4";

void must_run(const Words& words) {
  const ToolResult made = tool(words);
  CAPTURE(words, made.err);
  REQUIRE(made.status == 0);
}

// One of each kind, below a folder that nothing else is in.
struct Inputs {
  TempFolder folder, out;
  Inputs() {
    write_images(folder, 2, 12);
    const std::string images = folder / "images";
    for (const std::string to : {"x.lmdb", "x.mdb", "x.tar", "x.h5", "a.lmdb"})
      must_run({"pack", images, "--out", folder / to, "--threads", "1", "--quiet"});
    must_run({"pack", images, "--out", folder / "raw.lmdb", "--lsun", "--threads", "1", "--quiet"});
    folder.write("t.csv", "key,number\na,1\nb,2\n");
    fs::create_directory(folder / "slides");
    write_slide(folder / "slides/a.svs", {.width = 256, .height = 160, .tile_width = 32, .tile_height = 32});
    must_run({"merge", folder / "x.lmdb", folder / "a.lmdb", "--out", folder / "list.json", "--quiet"});
    must_run({"bench", folder / "x.lmdb", "--stages", pictures, "--threads", "1", "--epochs", "1", "--json",
              folder / "bench.json"});
    for (const std::string store : {"x.lmdb", "a.lmdb", "raw.lmdb"}) fs::remove(folder / store + "/lock.mdb");
    fs::remove(folder / "x.mdb-lock");
  }
  // Name, size, number and times of all that is there.
  std::map<std::string, std::string> listing() const {
    std::map<std::string, std::string> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
      struct stat status {};
      REQUIRE(::lstat(entry.path().c_str(), &status) == 0);
      std::string facts;
      for (const auto fact :
           {static_cast<long>(status.st_size), static_cast<long>(status.st_ino), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec})
        facts += std::to_string(fact) + " ";
      all[entry.path().string()] = facts;
    }
    return all;
  }
};

ToolResult recorded(const Words& words, const std::string& below, const std::string& log) {
  ::setenv("PENSTOCK_CALLS_FOLDER", below.c_str(), 1);
  ::setenv("PENSTOCK_CALLS_LOG", log.c_str(), 1);
  ::setenv("LD_PRELOAD", path_of("calls").c_str(), 1);
  ToolResult result = tool(words);
  for (const char* const name : {"LD_PRELOAD", "PENSTOCK_CALLS_FOLDER", "PENSTOCK_CALLS_LOG"}) ::unsetenv(name);
  return result;
}

bool changes_something(const RecordedCall& call) {
  if (call.name == "open") return call.flags.find("writes") != std::string::npos;
  const Words harmless{"pread", "close", "flock"};
  return std::ranges::find(harmless, call.name) == harmless.end();
}

void check_reads_only(const Inputs& inputs, const Words& words) {
  const auto before = inputs.listing();
  const std::string log = inputs.out / "calls";
  const ToolResult result = recorded(words, inputs.folder.path().string(), log);
  CAPTURE(words, result.out, result.err);
  CHECK(result.status == 0);
  CHECK(inputs.listing() == before);
  const std::vector<RecordedCall> calls = calls_in(log);
  CHECK_FALSE(calls.empty());
  const auto change = std::ranges::find_if(calls, changes_something);
  CHECK((change == calls.end() ? "" : change->name + " " + change->path + " " + change->flags) == "");
}

// Kills the tool after some seconds.
ToolResult within_seconds(const Words& words) {
  using namespace std::chrono_literals;
  RunningTool running(words);
  for (int waited = 0; waited < 500 && !running.ended(); ++waited) std::this_thread::sleep_for(20ms);
  if (!running.ended()) running.send(SIGKILL);
  return running.wait();
}

}  // namespace

TEST_CASE("commands that read write nothing but their output") {
  const Inputs inputs;
  const auto in = [&](const std::string& name) { return inputs.folder / name; };
  int number = 0;
  const auto out = [&](const std::string& ending) { return inputs.out / ("o" + std::to_string(number++) + ending); };
  for (const std::string store :
       {"x.lmdb", "x.mdb", "raw.lmdb", "list.json", "x-000000.tar", "x.h5", "images", "t.csv", "slides/a.svs"}) {
    if (!fs::exists(in(store))) {
      CAPTURE(store);
      FAIL("there is no such input");
    }
    check_reads_only(inputs, {"inspect", in(store), "--all"});
    check_reads_only(inputs, {"verify", in(store)});
    const bool is_table = store == "t.csv", is_slide = store == "slides/a.svs";
    Words bench{"bench", in(store), "--stages", is_table || is_slide ? "batch 1" : pictures, "--epochs", "1"};
    if (is_table) bench.insert(bench.end(), {"--fields", "number"});
    if (store != "x.mdb" && store != "raw.lmdb") check_reads_only(inputs, bench);
    if (is_table || is_slide) continue;
    if (store == "x.lmdb") check_reads_only(inputs, {"inspect", in(store), "--png", out(".png")});
    check_reads_only(inputs, {"convert", in(store), "--keys", "position", "--out", out(".tar")});
  }
  check_reads_only(inputs, {"pack", in("images"), "--out", out(".lmdb")});
  check_reads_only(inputs, {"tile", in("slides"), "--size", "32", "--out", out(".lmdb")});
  check_reads_only(inputs, {"tile", in("slides"), "--size", "32", "--dry-run"});
  check_reads_only(inputs, {"tile", in("slides"), "--size", "32", "--coords", out("")});
  check_reads_only(inputs, {"index", in("slides"), "--size", "32", "--out", out(".tiles")});
  check_reads_only(inputs, {"merge", in("x.lmdb"), in("a.lmdb"), "--out", out(".json")});
  check_reads_only(inputs, {"report", in("bench.json")});
  check_reads_only(inputs, {"report", in("bench.json"), "--html", out(".html")});
}

TEST_CASE("pipes, sockets and devices in a file's place end a command at once") {
  const Inputs inputs;
  const std::string pipe = inputs.folder / "pipe", socket = inputs.folder / "socket";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, socket.c_str(), socket.size());
  REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const std::string slides = inputs.folder / "slides", images = inputs.folder / "images";
  // Commands up to the name, what stands after it, and the endings by which files are told apart.
  struct Place {
    Words before;
    std::vector<std::string> endings;
    Words after = {};
    std::string inside = {};  // the name of the file in the folder that is named
  };
  const std::vector<Place> places{
      {{"inspect"}, {"", ".csv", ".svs", ".tar"}},
      {{"verify"}, {"", ".h5"}},
      {{"bench"}, {"", ".json"}, {"--stages", "batch 1"}},
      {{"convert"}, {"", ".lmdb"}, {"--out", "OUT.tar"}},
      {{"merge"}, {".lmdb", ".tar", ".json"}, {"--out", "OUT.json"}},
      {{"report"}, {".json"}},
      {{"pack"}, {""}, {"--out", "OUT.lmdb"}},
      {{"pack", images, "--labels"}, {".csv"}, {"--out", "OUT.lmdb"}},
      {{"pack", images, "--classes"}, {".txt", ".lmdb"}, {"--out", "OUT.lmdb"}},
      {{"tile"}, {".svs"}, {"--out", "OUT.lmdb"}},
      {{"index"}, {".svs"}, {"--out", "OUT.tiles"}},
      {{"tile", "--list"}, {"", ".csv"}, {"--out", "OUT.lmdb"}},
      {{"tile", slides, "--size", "32", "--labels"}, {".csv"}, {"--out", "OUT.lmdb"}},
      {{"tile", slides, "--size", "32", "--index"}, {".tiles"}, {"--out", "OUT.lmdb"}},
      {{"tile", slides, "--size", "32", "--from-coords"}, {".h5"}, {"--out", "OUT.lmdb"}},
      {{"tile", slides, "--size", "32", "--from-coords"}, {".h5"}, {"--out", "OUT.lmdb"}, "a"},
      {{"tile", slides, "--size", "32", "--regions"},
       {".geojson", ".xml", ".png"},
       {"--include", "*", "--out", "OUT.lmdb"},
       "a"},
      {{"tile", slides, "--settings"}, {".toml"}, {"--out", "OUT.lmdb"}},
  };
  int number = 0;
  for (const std::string& what : {pipe, socket, std::string("/dev/zero")})
    for (const Place& place : places)
      for (const std::string& ending : place.endings) {
        std::string name = inputs.folder / ("given" + std::to_string(number++)) + (place.inside.empty() ? ending : "");
        if (!place.inside.empty()) fs::create_directory(name);
        fs::create_symlink(what, place.inside.empty() ? name : name + "/" + place.inside + ending);
        Words words = place.before;
        words.push_back(name);
        if (words.front() == "merge") words.push_back(inputs.folder / "x.lmdb");
        for (std::string word : place.after)
          words.push_back(word.starts_with("OUT") ? inputs.out / (std::to_string(number) + word) : word);
        const ToolResult ended = within_seconds(words);
        CAPTURE(words, what, ended.out, ended.err);
        CHECK((ended.status == 1 || ended.status == 2 || ended.status == 3));
        CHECK(ended.peak_bytes < std::uint64_t{1} << 30);
        CHECK(ended.err.find("needs --") == std::string::npos);  // it came to look at it
      }
  ::close(listening);
}

TEST_CASE("a list or table that a command writes into a pipe is read, once") {
  const Inputs inputs;
  const auto in = [&](const std::string& name) { return inputs.folder / name; };
  struct Place {
    Words before;
    std::string text;
    Words after;
    std::string says;  // where it was read
  };
  const std::vector<Place> places{
      {{"tile", "--list"}, in("slides/a.svs") + "\n", {"--size", "32", "--dry-run"}, "40 tiles"},
      {{"tile", in("slides"), "--labels"}, "slide,grade\na,3\n", {"--size", "32", "--dry-run"}, "40 tiles"},
      {{"tile", in("slides"), "--labels"},
       "slide,grade\na,3\n",
       {"--size", "32", "--out", inputs.out / "labels.tar", "--quiet"},
       ""},
      {{"tile", in("slides"), "--settings"}, "size = 32\n", {"--dry-run"}, "40 tiles"},
      {{"index", in("slides"), "--labels"},
       "slide,grade\na,3\n",
       {"--size", "32", "--out", inputs.out / "l.tiles"},
       "40"},
      {{"pack", in("images"), "--labels"}, "class_0/0000.jpg,7\n", {"--out", inputs.out / "labels.lmdb"}, "1 record"},
      {{"pack", in("images"), "--classes"},
       "class_0\nclass_1\n",
       {"--out", inputs.out / "classes.lmdb"},
       "12 records"}};
  for (const Place& place : places) {
    const std::string pipe = in("pipe.txt");
    fs::remove(pipe);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int open_end = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // so that nobody waits
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::ofstream(pipe) << place.text;
      // What nobody has read is lost when the last end is closed.
      for (int i = 0, left = 1; i < 2000 && left != 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (::ioctl(open_end, FIONREAD, &left) != 0) break;
      }
      ::close(open_end);
    });
    Words words = place.before;
    words.push_back(pipe);
    words.insert(words.end(), place.after.begin(), place.after.end());
    const ToolResult read = tool(words);
    writer.join();
    CAPTURE(words, read.out, read.err);
    CHECK(read.status == 0);
    CHECK(read.out.find(place.says) != std::string::npos);
  }
}
