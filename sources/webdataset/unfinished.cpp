#include "unfinished.hpp"

#include <sys/stat.h>

#include <set>
#include <string_view>

#include "errors.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t number_width = 6;
constexpr std::string_view extension = ".tar";

}  // namespace

std::string mark_of(const std::string& path) { return path + "-unfinished.json"; }

std::string shard_name(const std::string& path, std::uint64_t number) {
  const std::string digits = std::to_string(number);
  const std::size_t zeros = digits.size() < number_width ? number_width - digits.size() : 0;
  return path + "-" + std::string(zeros, '0') + digits + std::string(extension);
}

std::optional<std::string> path_of(const std::string& shard) {
  std::string_view stem = shard;
  if (!stem.ends_with(extension)) return std::nullopt;
  stem.remove_suffix(extension.size());
  const std::size_t dash = stem.find_last_not_of("0123456789");
  if (dash == std::string_view::npos || stem[dash] != '-' || dash + 1 == stem.size()) return std::nullopt;
  return std::string(stem.substr(0, dash));
}

void refuse_unfinished(const std::vector<std::string>& shards) {
  std::set<std::string, std::less<>> seen;
  for (const std::string& shard : shards) {
    const auto path = path_of(shard);
    struct stat status {};
    if (path && seen.insert(*path).second && ::stat(mark_of(*path).c_str(), &status) == 0)
      throw error_in(mark_of(*path), Errc::invalid_argument,
                     "the shards are unfinished: the run that writes them was stopped or is still at work. Run it "
                     "again, it goes on where it was; if that run was given up, delete this file");
  }
}

}  // namespace penstock::webdataset
