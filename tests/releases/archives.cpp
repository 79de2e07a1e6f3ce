// SPDX-License-Identifier: Apache-2.0
#include "releases/archives.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <penstock/version.hpp>

#include "support/catch.hpp"
#include "support/paths.hpp"

namespace penstock_test {

namespace fs = std::filesystem;

std::string this_release() { return penstock::version(); }

std::vector<std::string> releases() {
  std::vector<std::string> found;
  for (const fs::directory_entry& file : fs::directory_iterator(path_of("releases")))
    if (file.path().extension() == ".xz") found.push_back(file.path().stem().stem().string());
  const auto numbers = [](const std::string& version) {
    std::array<int, 3> parts{-1, -1, -1};  // before-0.1.0 comes first
    std::sscanf(version.c_str(), "%d.%d.%d", &parts[0], &parts[1], &parts[2]);
    return parts;
  };
  std::ranges::sort(found, {}, numbers);
  REQUIRE_FALSE(found.empty());
  return found;
}

std::string newest_release() { return releases().back(); }

bool is_of_this_minor(const std::string& release) {
  const std::string minor = this_release().substr(0, this_release().rfind('.') + 1);
  return release.starts_with(minor);
}

void unpack(const std::string& release, const std::string& folder) {
  const std::string archive = path_of("releases") + "/" + release + ".tar.xz";
  REQUIRE(std::system(("tar -C '" + folder + "' -xJf '" + archive + "'").c_str()) == 0);
}

bool names_the_difference(const std::string& message) {
  // The last two are of builds before the first release, whose files had other names.
  for (const char* const words : {"version", "an older penstock", "another job", "another pipeline", "other settings",
                                  "that were not begun by a run that can be continued", "not a cache"})
    if (message.find(words) != std::string::npos) return true;
  return false;
}

void set_whole_seconds(const std::string& folder) {
  const auto now = std::chrono::floor<std::chrono::seconds>(fs::file_time_type::clock::now());
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) fs::last_write_time(entry.path(), now);
}

}  // namespace penstock_test
