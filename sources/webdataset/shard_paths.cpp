// SPDX-License-Identifier: Apache-2.0
#include "shard_paths.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>

#include <penstock/extend/listing.hpp>

#include "common/natural_order.hpp"
#include "common/store_list.hpp"
#include "errors.hpp"
#include "manifest.hpp"

namespace penstock::webdataset {

namespace {

[[noreturn]] void refuse_pattern(std::string_view pattern, const std::string& why) {
  throw Error(Errc::invalid_argument, "the pattern \"" + printable(pattern) + "\" " + why);
}

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  constexpr std::size_t max_digits = 18;
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.size() > max_digits || failed != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::vector<std::string> choices_of(std::string_view inside, std::string_view pattern) {
  std::vector<std::string> choices;
  if (const std::size_t dots = inside.find(".."); dots != std::string_view::npos) {
    const std::string_view from = inside.substr(0, dots), to = inside.substr(dots + 2);
    const auto first = number_of(from), last = number_of(to);
    if (!first || !last || *last < *first)
      refuse_pattern(pattern, "has a range that is not {first..last} in numbers that rise, like {000..146}");
    if (*last - *first >= max_shards) refuse_pattern(pattern, "stands for more than a million files");
    const std::size_t width = from.front() == '0' || to.front() == '0' ? std::max(from.size(), to.size()) : 0;
    for (std::uint64_t number = *first; number <= *last; ++number) {
      const std::string digits = std::to_string(number);
      choices.push_back(std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits);
    }
    return choices;
  }
  if (static_cast<std::size_t>(std::ranges::count(inside, ',')) >= max_shards)
    refuse_pattern(pattern, "stands for more than a million files");
  while (true) {
    const std::size_t comma = inside.find(',');
    choices.emplace_back(inside.substr(0, comma));
    if (comma == std::string_view::npos) return choices;
    inside.remove_prefix(comma + 1);
  }
}

bool has_wildcard(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

void add_matches(const std::string& pattern, std::vector<std::string>& shards) {
  const std::vector<std::string> matches = files_of_pattern(pattern, source_name);
  const auto begin = shards.insert(shards.end(), matches.begin(), matches.end());
  std::sort(begin, shards.end(), common::natural_less);
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// Returns the texts that a pattern stands for. `folders`: the path before the pattern. If the pattern has several pairs
// of braces, the names of files may contain all pairs except the last as plain characters. So the last pair is expanded
// alone first. If the first text that this makes is the path of an existing file, the other pairs are not expanded.
std::vector<std::string> texts_of(const std::string& folders, std::string_view pattern) {
  const std::size_t last = pattern.rfind('{');
  if (last != std::string_view::npos && pattern.substr(0, last).find('{') != std::string_view::npos) {
    std::vector<std::string> texts = expand_braces(pattern.substr(last));
    for (std::string& text : texts) text.insert(0, pattern.substr(0, last));
    if (is_there(folders + texts.front())) return texts;
  }
  return expand_braces(pattern);
}

void add_folder(const std::string& folder, std::vector<std::string>& shards, SkippedEntries& passed_over) {
  const auto is_shard = [](std::string_view name) { return has_ending(name, shard_extension); };
  FolderListing listing = list_files(folder, is_shard, source_name);
  for (const std::string& name : listing.others)
    if (!is_beside_shards(name)) passed_over.add_file(name);
  for (const std::string& name : listing.folders)
    if (!is_beside_shards(name)) passed_over.add_folder();
  shards = std::move(listing.files);
  if (shards.empty())
    throw error_in(folder, Errc::not_found,
                   "there are no shards, *.tar, in the folder" +
                       (passed_over.text().empty() ? "" : ", only " + passed_over.text()));
  std::sort(shards.begin(), shards.end(), common::natural_less);
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern) {
  std::vector<std::string> made{""};
  std::size_t bytes = 0;  // of all of them
  const auto take_bytes = [&](std::size_t all) {
    if (all > max_names_bytes) refuse_pattern(pattern, "stands for names that have more than 256 MiB together");
    bytes = all;
  };
  std::string_view rest = pattern;
  while (true) {
    const std::size_t open = rest.find_first_of("{}");
    const std::string_view literal = rest.substr(0, open);
    take_bytes(bytes + made.size() * literal.size());
    for (std::string& text : made) text += literal;
    if (open == std::string_view::npos) return made;
    const std::size_t close = rest.find_first_of("{}", open + 1);
    if (rest[open] == '}' || close == std::string_view::npos || rest[close] == '{')
      refuse_pattern(pattern, "has braces without partner, or inside of each other");
    const auto choices = choices_of(rest.substr(open + 1, close - open - 1), pattern);
    if (choices.size() > max_shards / made.size()) refuse_pattern(pattern, "stands for more than a million files");
    std::size_t choice_bytes = 0;
    for (const std::string& choice : choices) choice_bytes += choice.size();
    take_bytes(bytes * choices.size() + choice_bytes * made.size());
    std::vector<std::string> longer;
    longer.reserve(made.size() * choices.size());
    for (const std::string& text : made)
      for (const std::string& choice : choices) longer.push_back(text + choice);
    made = std::move(longer);
    rest.remove_prefix(close + 1);
  }
}

std::vector<std::string> list_shards(const std::string& path, SkippedEntries& passed_over) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw error_in(path, Errc::invalid_argument, "the shards' path is empty, or holds a zero byte");
  std::vector<std::string> shards;
  if (names_manifest(path)) {
    WebDataset options{.path = path};
    Manifest manifest = read_manifest(options);
    if (manifest.on_servers)
      throw error_in(path, Errc::unsupported,
                     "the manifest names shards on servers, and these must be on this machine");
    return std::move(manifest.shards);
  }
  if (common::names_store_list(path)) {
    for (const std::string& store : common::read_store_list(path, "tar", "webdataset").stores) {
      const std::vector<std::string> of_store = list_shards(store, passed_over);
      shards.insert(shards.end(), of_store.begin(), of_store.end());
    }
    return shards;
  }
  struct stat status {};
  // The path of an existing file or folder is not a pattern, whatever characters it has.
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      add_folder(path, shards, passed_over);
    } else {
      shards.push_back(path);
    }
    return shards;
  }
  try {
    const std::size_t literal = literal_folders(path);
    const std::string folders = path.substr(0, literal);
    for (const std::string& one : texts_of(folders, std::string_view(path).substr(literal))) {
      if (has_wildcard(one)) {
        add_matches(folders + one, shards);
      } else {
        shards.push_back(folders + one);
      }
    }
  } catch (Error& error) {
    error.with_source("webdataset").with_file(path);
    throw;
  }
  return shards;
}

void refuse_twice(const std::vector<std::string>& shards, const std::vector<ShardIndex>& indices,
                  const std::string& path) {
  std::vector<std::size_t> order(shards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto identity = [&](std::size_t i) {
    return std::tuple(indices[i].device, indices[i].inode, indices[i].bytes);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::tuple(identity(a), a) < std::tuple(identity(b), b); });
  const auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](std::size_t a, std::size_t b) { return identity(a) == identity(b); });
  if (twice == order.end()) return;
  const std::string &first = shards[twice[0]], &second = shards[twice[1]];
  throw error_in(path, Errc::invalid_argument,
                 "the shard \"" + printable(first) + "\" is there twice" +
                     (first == second ? "" : ", also as \"" + printable(second) + "\""));
}

}  // namespace penstock::webdataset
