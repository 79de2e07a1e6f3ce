// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "errors.hpp"
#include "shard_paths.hpp"
#include "shard_urls.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;

std::size_t end_of_path(std::string_view url) noexcept { return std::min(url.find_first_of("?#"), url.size()); }

// Returns a URL's beginning up to the path, "https://host".
std::string_view origin_of(std::string_view url) noexcept {
  const std::size_t host = url.find("://") + 3;
  return url.substr(0, std::min(url.find_first_of("/?#", host), url.size()));
}

// Returns what a line is put after, if it is relative.
std::string folder_of(const std::string& path) {
  if (!names_url(path)) return path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
  const std::string_view origin = origin_of(path), plain = std::string_view(path).substr(0, end_of_path(path));
  if (plain.size() == origin.size()) return std::string(origin) + "/";
  return std::string(plain.substr(0, plain.rfind('/') + 1));
}

// Puts the lines of one manifest together.
class Lines {
 public:
  explicit Lines(const std::string& path)
      : on_server_(names_url(path)), origin_(on_server_ ? origin_of(path) : ""), folder_(folder_of(path)) {
    made_.name = on_server_ ? url_without_secrets(path) : path;
  }

  void take(std::string_view line, std::size_t number) {
    number_ = number;
    const bool is_url = names_url(std::string(line));
    if (line.find('\0') != std::string_view::npos) refuse("it has a zero byte, so the file is no list of shards");
    if (on_server_ && line.starts_with("//")) refuse("it begins with two slashes; name the scheme too, https://");
    if (const bool elsewhere = is_url || on_server_; made_.shards.empty()) {
      made_.on_servers = elsewhere;
    } else if (elsewhere != made_.on_servers) {
      refuse(std::string("it names a shard on ") + (elsewhere ? "a server" : "this machine") + ", and line " +
             std::to_string(made_.lines.front()) + " does not; make two manifests");
    }
    const std::string before = is_url ? "" : !line.starts_with('/') ? folder_ : origin_;
    for (const std::string& name : names_of(std::string(line))) add(before + name);
  }

  Manifest finish() && {
    if (made_.shards.empty())
      throw error_in(made_.name, Errc::invalid_argument, "the manifest names no shards; each has a line of its own");
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw error_in(made_.name, Errc::invalid_argument, "line " + std::to_string(number_) + " of the manifest: " + why);
  }

  std::vector<std::string> names_of(const std::string& line) const {
    try {
      return made_.on_servers ? expand_url(line) : expand_braces(line);
    } catch (const Error& error) {
      refuse(error.cause());
    }
  }

  void add(std::string shard) {
    if (made_.shards.size() == max_shards) refuse("the manifest names more than a million shards");
    bytes_ += shard.size();
    if (bytes_ > max_names_bytes) refuse("the manifest's names have more than 256 MiB together");
    const auto shown = [&] { return made_.on_servers ? url_without_secrets(shard) : printable(shard); };
    if (const auto [known, is_new] = seen_.emplace(made_.on_servers ? url_to_compare(shard) : shard, number_); !is_new)
      refuse("the shard \"" + shown() + "\" is there twice, also in line " + std::to_string(known->second));
    made_.shards.push_back(std::move(shard));
    made_.lines.push_back(number_);
  }

  Manifest made_;
  const bool on_server_;
  const std::string origin_, folder_;
  std::unordered_map<std::string, std::size_t> seen_;  // the line of each shard
  std::size_t number_ = 0, bytes_ = 0;                 // the line, and the bytes of all names so far
};

std::string text_of(WebDataset& options) {
  if (names_url(options.path)) return read_url(options, max_bytes);
  std::optional<std::string> text = read_text(options.path, source_name, max_bytes);
  if (!text)
    throw error_in(options.path, Errc::not_found,
                   "there is no such file, and paths that end in .txt name lists of shards");
  return std::move(*text);
}

}  // namespace

void Manifest::add_line(Error& error) const {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string shown = on_servers ? url_without_secrets(shards[i]) : shards[i];
    if (shown != error.file()) continue;
    Error full(error.code(), error.cause() + " (line " + std::to_string(lines[i]) + " of " + printable(name) + ")");
    full.with_source(error.source()).with_file(error.file());
    if (error.offset()) full.with_offset(*error.offset());
    error = full;
    return;
  }
}

bool names_manifest(const std::string& path) {
  constexpr std::string_view ending = ".txt";
  if (names_url(path)) return std::string_view(path).substr(0, end_of_path(path)).ends_with(ending);
  struct stat status {};
  return path.ends_with(ending) && !(::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode));
}

Manifest parse_manifest(const std::string& path, std::string_view text) {
  Lines lines(path);
  if (constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos && !line.starts_with('#')) lines.take(line, number);
  }
  return std::move(lines).finish();
}

Manifest read_manifest(WebDataset& options) { return parse_manifest(options.path, text_of(options)); }

std::vector<std::string> expand_url(const std::string& pattern) {
  const std::string_view path = std::string_view(pattern).substr(0, end_of_path(pattern));
  if (path.ends_with('/') || path.find('*') != std::string_view::npos)
    throw error_in(
        url_without_secrets(pattern), Errc::invalid_argument,
        "files on a server can't be listed; name each shard, like x-{000000..000146}.tar, or a list of them");
  try {
    return expand_braces(pattern);
  } catch (const Error& error) {
    // The message has the whole pattern.
    std::string cause = error.cause();
    const std::string shown = printable(pattern);
    if (const std::size_t at = cause.find(shown); at != std::string::npos)
      cause.replace(at, shown.size(), url_without_secrets(pattern));
    throw Error(error.code(), cause).with_source(source_name);
  }
}

}  // namespace penstock::webdataset
