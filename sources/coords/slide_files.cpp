// SPDX-License-Identifier: Apache-2.0
#include "slide_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::coords {

namespace fs = std::filesystem;

namespace {

Error file_problem(std::string_view source, const fs::path& file, Errc code, const std::string& why) {
  return Error(code, why).with_source(source).with_file(file.string());
}

constexpr std::string_view ending = ".h5";

// Returns whether the entry is a slide's file. A broken link with the right ending counts as a slide's file: the
// file was probably deleted, and reading it will report that.
bool is_file_of_slide(const FolderEntry& entry) {
  return has_ending(entry.name, ending) && (entry.kind == EntryKind::file || entry.kind == EntryKind::none);
}

class FolderWalk {
 public:
  FolderWalk(std::string_view source, bool below) : source_(source), below_(below) {}

  const SkippedEntries& passed_over() const noexcept { return passed_over_; }

  // Visits links to folders last, in the order of their paths. So a folder with several paths is visited once, and
  // always by the same path.
  std::vector<std::string> files_in(const fs::path& folder) {
    walk(folder);
    while (!links_.empty()) walk(links_.extract(links_.begin()).value());
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  void walk(const fs::path& first) {
    std::vector<fs::path> folders{first};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      if (is_new(folder)) list(folder, folders);
    }
  }
  bool is_new(const fs::path& folder) {
    struct stat facts {};
    return ::stat(folder.c_str(), &facts) != 0 || seen_.emplace(facts.st_dev, facts.st_ino).second;
  }
  void list(const fs::path& folder, std::vector<fs::path>& folders) {
    int failed = 0;
    for (const FolderEntry& entry : entries_in_folder(folder.string(), failed)) {
      if (is_skipped(entry.name)) continue;
      const bool is_folder = entry.kind == EntryKind::folder;
      if (is_file_of_slide(entry))
        files_.push_back((folder / entry.name).string());
      else if (below_ && is_folder)
        entry.is_link ? static_cast<void>(links_.insert(folder / entry.name)) : folders.push_back(folder / entry.name);
      else if (!is_folder && !is_beside_shards(entry.name))
        passed_over_.add_file(entry.name);
    }
    if (failed != 0)
      throw file_problem(source_, folder, Errc::io,
                         "the folder can't be listed: " + std::generic_category().message(failed));
  }

  std::string_view source_;
  bool below_;
  std::vector<std::string> files_;
  SkippedEntries passed_over_;
  std::set<fs::path> links_;                // links to folders that are still to be visited
  std::set<std::pair<dev_t, ino_t>> seen_;  // folders that were visited
};

SlideFeatureFiles files_below(const fs::path& folder, std::string_view source) {
  SlideFeatureFiles found;
  FolderWalk walk(source, true);
  std::unordered_map<std::string, std::string> file_of;
  for (const std::string& file : walk.files_in(folder)) {
    std::string name = fs::path(file).lexically_relative(folder).string();
    name.resize(name.size() - ending.size());
    if (const auto [first, fresh] = file_of.emplace(name, file); !fresh)
      throw file_problem(source, file, Errc::invalid_argument,
                         "it and " + first->second + " are two files of the slide " + printable(name) +
                             "; keep one of them, or rename one");
    found.files.push_back({file, std::move(name)});
  }
  found.passed_over = walk.passed_over().text();
  return found;
}

}  // namespace

SlideFeatureFiles find_slide_files(const std::string& path, const std::string& inner, std::string_view source) {
  std::error_code failed;
  if (!fs::exists(path, failed)) throw file_problem(source, path, Errc::not_found, "there is no such file or folder");
  if (!fs::is_directory(path, failed)) return {{{path, fs::path(path).stem().string()}}};
  if (FolderWalk(source, false).files_in(path).empty())
    if (const fs::path folder = fs::path(path) / inner; fs::is_directory(folder, failed))
      if (SlideFeatureFiles found = files_below(folder, source); !found.files.empty()) return found;
  SlideFeatureFiles found = files_below(path, source);
  if (found.files.empty())
    throw file_problem(source, path, Errc::not_found,
                       "the folder has no files that end in .h5, nor have the folders in it" +
                           (found.passed_over.empty() ? "" : ", only " + found.passed_over));
  return found;
}

}  // namespace penstock::coords
