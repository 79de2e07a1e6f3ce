// SPDX-License-Identifier: Apache-2.0
#include "common/shard_names.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

namespace {

constexpr std::size_t number_width = 6, max_digits = 18;
constexpr std::string_view partial_ending = ".partial", digits = "0123456789";

}  // namespace

std::string ShardNames::partial(std::uint64_t number) const { return shard(number) + std::string(partial_ending); }

std::string ShardNames::shard(std::uint64_t number) const {
  if (single_file_) return path_;
  const std::string text = std::to_string(number);
  const std::size_t zeros = text.size() < number_width ? number_width - text.size() : 0;
  return path_ + "-" + std::string(zeros, '0') + text + extension_;
}

std::string ShardNames::unfinished_files() const {
  return "the files " + name() + "-unfinished* and " + path_ + (single_file_ ? "" : "-*" + extension_) +
         std::string(partial_ending);
}

ShardNames::Found ShardNames::find(std::string_view source) const {
  namespace fs = std::filesystem;
  Found found;
  if (single_file_) {
    if (file_bytes(path_, source)) found.finished.push_back(0);
    if (file_bytes(partial(0), source)) found.partial.push_back(0);
    return found;
  }
  const fs::path prefix(path_ + "-");
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string begin = prefix.filename().string();
  int failed = 0;
  for (const std::string& name : names_in_folder(folder.string(), failed)) {
    if (!name.starts_with(begin)) continue;
    const std::size_t after = name.find_first_not_of(digits, begin.size());
    if (after == std::string::npos || after == begin.size() || after - begin.size() > max_digits) continue;
    const std::uint64_t number = std::stoull(name.substr(begin.size(), after - begin.size()));
    if (name == fs::path(shard(number)).filename().string()) found.finished.push_back(number);
    if (name == fs::path(partial(number)).filename().string()) found.partial.push_back(number);
  }
  if (failed != 0) throw system_error(source, failed, "listing the folder", folder.string());
  std::sort(found.finished.begin(), found.finished.end());
  std::sort(found.partial.begin(), found.partial.end());
  return found;
}

std::optional<std::string> store_of_shard(std::string_view file, std::string_view extension) {
  if (!file.ends_with(extension)) return std::nullopt;
  file.remove_suffix(extension.size());
  const std::size_t dash = file.find_last_not_of(digits);
  if (dash == std::string_view::npos || file[dash] != '-' || dash + 1 == file.size()) return std::nullopt;
  return std::string(file.substr(0, dash));
}

void refuse_unfinished(const std::vector<std::string>& files, std::string_view extension, std::string_view source) {
  std::set<std::string, std::less<>> seen;
  const auto look = [&](const std::string& path, bool single_file) {
    const std::string mark = ShardNames(path, extension, single_file).mark();
    struct stat status {};
    if (seen.insert(path).second && ::stat(mark.c_str(), &status) == 0)
      throw file_error(source, mark, Errc::invalid_argument,
                       "the store is unfinished: the run that writes it was stopped or is still at work. Run it again, "
                       "it goes on where it was; if that run was given up, delete this file");
  };
  for (const std::string& file : files) {
    std::string_view name = file;
    if (name.ends_with(partial_ending)) name.remove_suffix(partial_ending.size());
    look(std::string(name), true);
    const auto path = store_of_shard(name, extension);
    if (path && name.size() - path->size() - extension.size() > number_width) look(*path, false);
  }
}

}  // namespace penstock::common
