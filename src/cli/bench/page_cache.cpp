// SPDX-License-Identifier: Apache-2.0
#include "bench/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>

#include "console/json_input.hpp"
#include "console/output.hpp"
#include "stores/store_list.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

void add_files(const fs::path& path, std::vector<std::string>& all) {
  if (!fs::is_directory(path)) {
    all.push_back(path.string());
    // A MIRAX slide is a file and the folder next to it.
    if (const fs::path beside = fs::path(path).replace_extension(); path.extension() == ".mrxs" && fs::exists(beside))
      add_files(beside, all);
    return;
  }
  constexpr auto as_stores_do = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator entry(path, as_stores_do), end; entry != end; ++entry) {
    if (is_skipped(entry->path().filename().string()))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file())
      all.push_back(entry->path().string());
  }
}

void add_stores_of_list(const std::string& path, std::vector<std::string>& all) {
  all.push_back(path);
  const Json json = json_or_null(read_text(path, "list of stores").value_or(""));
  if (!json.is_object() || !json.contains("stores")) return;
  for (const Json& store : json.at("stores"))
    if (store.is_string()) add_files(fs::absolute(path).parent_path() / store.get<std::string>(), all);
}

// Returns the names that a pattern like "x-{000000..000146}.tar" stands for: one name per number, in which the number
// replaces the braces. Numbers are filled up with zeros to as many digits as the first number has.
std::vector<std::string> each_of_range(const std::string& pattern) {
  const std::size_t begin = pattern.rfind('{'), dots = pattern.find("..", begin), end = pattern.find('}', begin);
  if (begin == pattern.npos || dots == pattern.npos || end == pattern.npos || dots > end) return {pattern};
  const std::string first = pattern.substr(begin + 1, dots - begin - 1),
                    last = pattern.substr(dots + 2, end - dots - 2);
  std::uint64_t from = 0, to = 0;
  const auto number = [](const std::string& text, std::uint64_t& value) {
    const auto [at, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() && at == text.data() + text.size();
  };
  if (!number(first, from) || !number(last, to)) return {pattern};
  std::vector<std::string> all;
  for (std::uint64_t n = from; n <= to; ++n) {
    std::string digits = std::to_string(n);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    for (std::string& one : each_of_range(pattern.substr(0, begin) + digits + pattern.substr(end + 1)))
      all.push_back(std::move(one));
  }
  return all;
}

// Takes the file's pages out of this process's mappings. The system does not drop pages that are mapped.
void unmap_pages(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(" " + file)) continue;
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all that /proc gives
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
  }
}

[[noreturn]] void refuse(const std::string& file, const char* call, int code) {
  throw Error(Errc::io, std::string(call) + ": " + std::generic_category().message(code)).with_file(file);
}

}  // namespace

std::vector<std::string> files_of_store(const std::string& path) {
  std::vector<std::string> all;
  if (names_list(path) && is_list(path))
    add_stores_of_list(path, all);
  else if (fs::exists(path))
    add_files(path, all);
  else
    for (const std::string& pattern : each_of_range(path))
      for (const std::string& file : files_of_pattern(pattern, "bench", true)) add_files(file, all);
  if (all.empty()) throw UsageError("--cold: " + path + " has no files");
  return all;
}

std::uint64_t drop_pages(const std::vector<std::string>& files) {
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    unmap_pages(fs::canonical(file).string());
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) refuse(file, "open", errno);
    ::fdatasync(opened);
    const int code = ::posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED);
    ::close(opened);
    if (code != 0) refuse(file, "posix_fadvise", code);
    bytes += fs::file_size(file);
  }
  return bytes;
}

std::uint64_t disk_bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;)
    if (key == "read_bytes:") return value;
  return 0;
}

}  // namespace penstock::cli
