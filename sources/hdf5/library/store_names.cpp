#include "library/store_names.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::size_t number_width = 6, most_digits = 18;
constexpr std::string_view shard_extension = ".h5", partial_ending = ".partial";

std::string mark_at(const std::string& path) { return path + "-unfinished.json"; }

}  // namespace

std::string StoreNames::partial(std::uint64_t number) const { return shard(number) + std::string(partial_ending); }
std::string StoreNames::mark() const { return mark_at(path_); }
std::string StoreNames::items() const { return path_ + "-unfinished.items"; }
std::string StoreNames::rows(unsigned which) const { return path_ + "-unfinished.rows" + std::to_string(which); }

std::string StoreNames::shard(std::uint64_t number) const {
  if (single_file_) return path_;
  const std::string digits = std::to_string(number);
  const std::size_t zeros = digits.size() < number_width ? number_width - digits.size() : 0;
  return path_ + "-" + std::string(zeros, '0') + digits + std::string(shard_extension);
}

StoreNames::Found StoreNames::find() const {
  namespace fs = std::filesystem;
  Found found;
  const fs::path prefix(single_file_ ? path_ : path_ + "-");
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string begin = prefix.filename().string();
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    std::uint64_t number = 0;
    if (!single_file_) {
      const std::size_t digits = name.find_first_not_of("0123456789", begin.size());
      if (digits == std::string::npos || digits == begin.size() || digits - begin.size() > most_digits) continue;
      number = std::stoull(name.substr(begin.size(), digits - begin.size()));
    }
    if (name == fs::path(shard(number)).filename().string()) found.finished.push_back(number);
    if (name == fs::path(partial(number)).filename().string()) found.partial.push_back(number);
  }
  if (failed) throw system_error(failed.value(), "listing the folder", folder.string());
  std::sort(found.finished.begin(), found.finished.end());
  std::sort(found.partial.begin(), found.partial.end());
  return found;
}

void refuse_unfinished(const std::vector<std::string>& files) {
  std::set<std::string, std::less<>> seen;
  const auto look = [&](const std::string& path) {
    struct stat status {};
    if (seen.insert(path).second && ::stat(mark_at(path).c_str(), &status) == 0)
      throw error_in(mark_at(path), Errc::invalid_argument,
                     "the store is unfinished: the run that writes it was stopped or is still at work. Run it again, "
                     "it goes on where it was; if that run was given up, delete this file");
  };
  for (const std::string& file : files) {
    std::string_view stem = file;
    if (stem.ends_with(partial_ending)) stem.remove_suffix(partial_ending.size());
    look(std::string(stem));
    if (!stem.ends_with(shard_extension)) continue;
    stem.remove_suffix(shard_extension.size());
    const std::size_t dash = stem.find_last_not_of("0123456789");
    if (dash == std::string_view::npos || stem[dash] != '-' || stem.size() - dash - 1 < number_width) continue;
    look(std::string(stem.substr(0, dash)));
  }
}

}  // namespace penstock::hdf5
