// SPDX-License-Identifier: Apache-2.0
#include "keys.hpp"

#include <algorithm>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/sources/files.hpp>

namespace penstock::files {

namespace {

// Returns the length of a path's ending, including its dot; 0 if the ending is not one of `extensions`.
std::uint8_t ending_bytes(std::string_view path, const std::vector<std::string>& extensions) {
  const std::size_t dot = path.rfind('.'), slash = path.rfind('/');
  if (dot == std::string_view::npos || dot == 0 || (slash != std::string_view::npos && dot <= slash + 1)) return 0;
  std::string ending(path.substr(dot + 1));
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (ending.size() > 200 || std::find(extensions.begin(), extensions.end(), ending) == extensions.end()) return 0;
  return static_cast<std::uint8_t>(ending.size() + 1);
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace

std::vector<std::uint8_t> endings_beyond_keys(const PathTable& paths, const std::vector<std::string>& extensions) {
  const std::vector<std::string> known = extensions.empty() ? Files{}.extensions : extensions;
  std::vector<std::uint8_t> endings(paths.size());
  std::vector<std::uint64_t> stems, whole;  // hashes
  for (std::uint64_t i = 0; i < paths.size(); ++i) {
    endings[i] = ending_bytes(paths[i], known);
    whole.push_back(hash_of(paths[i]));
    stems.push_back(endings[i] == 0 ? whole.back() : hash_of(paths[i].substr(0, paths[i].size() - endings[i])));
  }
  std::vector<std::uint64_t> sorted = stems;
  std::sort(sorted.begin(), sorted.end());
  std::sort(whole.begin(), whole.end());
  for (std::uint64_t i = 0; i < paths.size(); ++i) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), stems[i]);
    // A path also keeps its ending if its stem is another file's whole path, because that path may have to be the other
    // file's key.
    if (last - first > 1 || std::binary_search(whole.begin(), whole.end(), stems[i])) endings[i] = 0;
  }
  return endings;
}

}  // namespace penstock::files
