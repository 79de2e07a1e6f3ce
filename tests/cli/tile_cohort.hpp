// SPDX-License-Identifier: Apache-2.0
// Slides to cut with `penstock tile`, and to change behind its back.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace penstock_test {

inline std::vector<std::string> keys_in(const std::string& store) {
  const penstock::LmdbSource source({.path = store});
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

// Changes a slide's bytes while nobody can tell from its file's size and times.
class SecretChange {
 public:
  explicit SecretChange(std::string file) : file_(std::move(file)) {
    REQUIRE(::stat(file_.c_str(), &before_) == 0);
    content_ = text_in(file_);
  }
  // Back to what it was.
  void undo() {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << content_;
    keep_times();
  }
  void keep_times() const {
    const timespec times[2] = {before_.st_atim, before_.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, file_.c_str(), times, 0) == 0);
  }

 private:
  std::string file_, content_;
  struct stat before_ {};
};

// A folder with a folder in it.
struct SlideFolder : TempFolder {
  SlideFolder() { std::filesystem::create_directory(path() / "slides"); }
};

struct Cohort {
  SlideFolder folder;
  WrittenSlide a = write_slide(folder / "slides/a.svs", {.width = 330, .height = 270});
  WrittenSlide b = write_slide(folder / "slides/b.svs", {.width = 200, .height = 140, .seed = 1});

  std::vector<std::string> words(const std::string& out, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"tile", folder / "slides", "--out", folder / out, "--size", "64"});
    if (out.ends_with(".folder")) more.insert(more.end(), {"--form", "folder"});
    return more;
  }
};

}  // namespace penstock_test
