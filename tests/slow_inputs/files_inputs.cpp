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

}  // namespace

TEST_CASE("folders take time and memory as they are large, whatever links are in them") {
  check_inputs("files", {.seconds = 0.5, .megabytes = 64},
               {
                   {.name = "n folders of three links to the next one",
                    .size = 9,
                    .make = ladder,
                    .use = list,
                    .refused = Errc::limit_exceeded},
                   {.name = "n classes that share a folder", .size = 100, .make = shared_folder, .use = list},
               });
}

}  // namespace PENSTOCK_TEST_FILE
