// SPDX-License-Identifier: Apache-2.0
#include "table/slide_finder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>

#include <penstock/sources/slide_endings.hpp>

#include "table/slide_names.hpp"

namespace penstock::slide {

namespace {

// The largest number of a path's last folders that are compared.
constexpr int most_folders = 32;

// Returns "a/c/d" for "a/b/../c//d".
std::string plain(const std::string& path) { return std::filesystem::path(path).lexically_normal().generic_string(); }

struct FileFacts {
  std::pair<std::uint64_t, std::uint64_t> id;  // device and inode
  std::uint64_t bytes;
};

// Returns the facts that identify a file, or nothing if the file does not exist.
std::optional<FileFacts> facts_of(const std::string& path) {
  struct ::stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileFacts{{facts.st_dev, facts.st_ino}, static_cast<std::uint64_t>(facts.st_size)};
}

void add(std::unordered_map<std::string, std::size_t>& ends, std::string end, std::size_t slide) {
  const auto [place, fresh] = ends.emplace(std::move(end), slide);
  if (!fresh && place->second != slide) place->second = SlideFinder::several;
}

}  // namespace

SlideFinder::SlideFinder(std::span<const std::string> paths) {
  const std::vector<std::string> names = names_of_slides(paths);
  for (std::size_t i = 0; i < names.size(); ++i) names_.emplace(names[i], i);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto file = facts_of(paths[i]);
    if (file) files_.emplace(file->id, i);
    bytes_.push_back(file ? file->bytes : 0);
    const std::string path = plain(std::filesystem::absolute(paths[i]).generic_string());
    std::size_t begin = path.size();
    for (int folders = 0; folders <= most_folders && begin != 0; ++folders) {
      const std::size_t slash = path.rfind('/', begin - 1);
      begin = slash == std::string::npos ? 0 : slash;
      const std::string end = path.substr(slash == std::string::npos ? 0 : slash + 1);
      add(with_ending_, end, i);
      add(without_, without_ending(end), i);
    }
  }
}

common::FoundSlides SlideFinder::find(std::span<const std::string> cells) const {
  common::FoundSlides found;
  // The folder of the last absolute path so far, and whether all absolute paths so far have this folder.
  std::optional<std::string> folder;
  bool one_folder = true;
  std::vector<std::string> paths;
  for (const std::string& cell : cells) {
    // Most cells of a table are not paths, and need not be made plain.
    paths.push_back(cell.find('/') == std::string::npos ? cell : plain(cell));
    if (!paths.back().starts_with('/')) continue;
    const std::string of_this = paths.back().substr(0, paths.back().rfind('/') + 1);
    one_folder = one_folder && (!folder || *folder == of_this);
    folder = of_this;
  }
  std::vector<Match> matches;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string& path = paths[i];
    Match match;
    if (path.starts_with('/')) {
      const auto there = facts_of(path);
      if (const auto same = there ? files_.find(there->id) : files_.end(); same != files_.end()) {
        match = {same->second, Ending::own};
      } else {
        match = find_absolute(path);
        if (match.slide == no_match && one_folder) match = find_end(file_name_of(path));
        if (match.slide < several && there && there->bytes != bytes_[match.slide]) match = {};
        if (match.slide < several && found.elsewhere.empty()) found.elsewhere = path.substr(0, path.rfind('/') + 1);
      }
    } else if (!path.empty()) {
      while (path.starts_with("../")) path.erase(0, 3);
      match = find_end(path);
      // "./1" means the slide whose whole name is "1", even if other paths end in "1".
      const auto named = cells[i].starts_with("./") ? names_.find(path) : names_.end();
      if (match.slide == several && named != names_.end()) match.slide = named->second;
    }
    matches.push_back(match);
  }
  std::unordered_set<std::size_t> named;  // slides that cells name with the file's own extension, or with none
  for (const Match& match : matches)
    if (match.ending != Ending::another) named.insert(match.slide);
  for (const Match& match : matches) {
    const bool is_other = match.ending == Ending::another && named.contains(match.slide);
    found.slides.push_back(is_other ? no_match : match.slide);
    found.exact += match.slide < several && match.ending == Ending::own;
  }
  return found;
}

SlideFinder::Match SlideFinder::find_end(const std::string& end) const {
  if (const auto found = with_ending_.find(end); found != with_ending_.end()) return {found->second, Ending::own};
  if (const auto found = without_.find(end); found != without_.end()) return {found->second, Ending::none};
  if (!names_slide(end)) return {};
  const auto found = without_.find(without_ending(end));
  return found == without_.end() ? Match{} : Match{found->second, Ending::another};
}

SlideFinder::Match SlideFinder::find_absolute(std::string_view path) const {
  std::vector<std::size_t> slashes;
  for (std::size_t at = path.size(); at != 0 && slashes.size() <= most_folders; --at)
    if (path[at - 1] == '/') slashes.push_back(at - 1);
  // Tries the ends of the path, from the longest to the shortest that has a folder.
  for (std::size_t i = slashes.size(); i-- > 1;)
    if (const Match match = find_end(std::string(path.substr(slashes[i] + 1))); match.slide != no_match) return match;
  return {};
}

}  // namespace penstock::slide
