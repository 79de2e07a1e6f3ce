// SPDX-License-Identifier: Apache-2.0
#include "console/output_paths.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

enum class Kind { file, folder, either };
struct Option {
  const char* name;
  Kind kind;
};
// For --out and --png, a file or a folder may be right. The command itself checks this.
constexpr std::array options{Option{"--out", Kind::either},      Option{"--json", Kind::file},
                             Option{"--html", Kind::file},       Option{"--png", Kind::either},
                             Option{"--report", Kind::folder},   Option{"--coords", Kind::folder},
                             Option{"--pictures", Kind::folder}, Option{"--cache", Kind::folder}};

fs::path whole(const std::string& path) {
  std::error_code failed;
  fs::path full = fs::weakly_canonical(fs::absolute(path), failed);
  if (failed) full = fs::absolute(path).lexically_normal();
  // The last part of a path like "x/" is empty, so it is removed.
  return full.has_filename() ? full : full.parent_path();
}

void check_place(const Option& option, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{} {}: {}; name another place", option.name, printable(path), why));
  };
  std::error_code failed;
  if (option.kind == Kind::file && (path.ends_with('/') || fs::is_directory(path, failed)))
    refuse("it is a folder, and a file is to be written");
  fs::path place = whole(path);
  if (option.kind == Kind::folder && fs::exists(place, failed) && !fs::is_directory(place, failed))
    refuse("it is a file, and a folder is to be made");
  if (option.kind != Kind::folder || !fs::exists(place, failed)) place = place.parent_path();
  while (!fs::exists(place, failed) && place.has_relative_path()) place = place.parent_path();
  if (!fs::is_directory(place, failed)) refuse(printable(place.string()) + " is no folder");
  if (::access(place.c_str(), W_OK | X_OK) != 0)
    refuse("the folder " + printable(place.string()) + " may not be written to");
}

}  // namespace

void check_output_paths(const CLI::App& command) {
  for (const Option& option : options) {
    const CLI::Option* const given = command.get_option_no_throw(option.name);
    if (given == nullptr || given->count() == 0 || given->get_expected_max() == 0) continue;
    for (const std::string& path : given->results())
      if (!path.empty() && path != "-") check_place(option, path);
  }
}

bool lies_in(const std::string& path, const std::string& folder) {
  const fs::path inner = whole(path), outer = whole(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace penstock::cli
