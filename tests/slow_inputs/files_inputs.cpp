// SPDX-License-Identifier: Apache-2.0
// Folders whose links lead to the same folders again and again.
#include <filesystem>
#include <string>

#include <penstock/sources/files.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void list(const TempFolder& folder) { (void)FilesSource({.root = folder / "root"}).size(); }

void link(const TempFolder& folder, const std::string& name, const std::string& to) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  std::filesystem::create_directory_symlink(folder / to, folder / name);
}

// n folders, in each of which three links lead to the next one.
void ladder(const TempFolder& folder, std::size_t n) {
  folder.write("step" + std::to_string(n) + "/x.jpg", "x");
  for (std::size_t i = 0; i < n; ++i)
    for (const char* name : {"a", "b", "c"})
      link(folder, "step" + std::to_string(i) + "/" + name, "step" + std::to_string(i + 1));
  link(folder, "root/class", "step0");
}

// n classes, in each of which a link leads to a folder of 100 files.
void shared_folder(const TempFolder& folder, std::size_t n) {
  for (int i = 0; i < 100; ++i) folder.write("shared/" + std::to_string(i) + ".jpg", "x");
  for (std::size_t i = 0; i < n; ++i) link(folder, "root/" + std::to_string(i) + "/shared", "shared");
}

// A table of labels, of a file that is there.
void write_labels(const TempFolder& folder, const std::string& text) {
  folder.write("root/a.jpg", "x");
  folder.write("labels.csv", text);
}

void read_labels(const TempFolder& folder) {
  (void)FilesSource({.root = folder / "root", .labels = folder / "labels.csv"}).size();
}

}  // namespace

TEST_CASE("folders take time and memory as they are large, whatever links are in them") {
  check_inputs(
      "files", {.seconds = 0.5, .megabytes = 64},
      {
          {.name = "n folders of three links to the next one",
           .size = 9,
           .make = ladder,
           .use = list,
           .refused = Errc::limit_exceeded},
          {.name = "n classes that share a folder", .size = 100, .make = shared_folder, .use = list},
          {.name = "n columns of labels",
           .size = 50'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_labels(f, "file,label" + times(n, ",c") + "\na.jpg,x" + times(n, ",1") + "\n");
               },
           .use = read_labels},
          {.name = "n lines of labels that are the same file's",
           .size = 20'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { write_labels(f, times(n, "b.jpg,x\n") + times(n, "b.jpg,y\n")); },
           .use = read_labels,
           .refused = Errc::invalid_argument},
          {.name = "a label of n quotes",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { write_labels(f, "a.jpg,\"" + times(n, "\"\"") + "\"\n"); },
           .use = read_labels},
          {.name = "n files that are passed over, each with an ending of its own",
           .size = 1'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 for (std::size_t i = 0; i < n; ++i) f.write("root/a." + std::to_string(i), "");
               },
           .use = list},
      });
}

}  // namespace PENSTOCK_TEST_FILE
