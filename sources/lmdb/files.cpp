#include "files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "errors.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::uint64_t header_pages = 2;

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

StoreFiles place_store(const std::string& path, bool single_file) {
  if (single_file) return {path, path, path + "-lock", path + "-unfinished", true};
  const std::filesystem::path folder(path);
  const auto in_folder = [&](const char* name) { return (folder / name).string(); };
  return {path, in_folder("data.mdb"), in_folder("lock.mdb"), in_folder("unfinished.json"), false};
}

StoreFiles find_store(const std::string& path) {
  if (path.empty()) throw Error(Errc::invalid_argument, "the store's path is empty").with_source("lmdb");
  StoreFiles files = place_store(path, !is_folder(path));
  if (!facts_of(files.data)) throw error_of(ENOENT, "opening the store", files.data);
  return files;
}

std::optional<FileFacts> facts_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw error_of(errno, "opening the store", file);
  }
  return FileFacts{{status.st_dev, status.st_ino}, static_cast<std::uint64_t>(status.st_size)};
}

std::uint64_t header_bytes() noexcept {
  constexpr std::uint64_t largest_page = 32768;
  return header_pages * std::min(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), largest_page);
}

bool holds_nothing(const StoreFiles& files) {
  const std::uint64_t bytes = facts_of(files.data).value_or(FileFacts{}).bytes;
  if (bytes == 0) return true;
  const bool marked = facts_of(files.unfinished).has_value();
  if (bytes >= header_bytes() && !marked) return false;
  std::vector<char> header(std::min(bytes, header_bytes()));
  std::ifstream in(files.data, std::ios::binary);
  if (!in.read(header.data(), static_cast<std::streamsize>(header.size())))
    throw error_of(EIO, "reading the store's header", files.data);
  if (std::ranges::all_of(header, [](char byte) { return byte == 0; })) return true;
  if (bytes >= header_bytes()) return false;
  if (marked) return true;
  // Where LMDB says in each of its first two pages what the file is, and after how many commits; as the machine has
  // numbers.
  constexpr std::size_t magic_at = 16, commits_at = 144;
  constexpr std::uint32_t magic = 0xBEEFC0DE;
  const auto begun = [&](std::size_t page) {
    std::uint32_t found = 0;
    std::uint64_t commits = 0;
    std::memcpy(&found, header.data() + page + magic_at, sizeof found);
    std::memcpy(&commits, header.data() + page + commits_at, sizeof commits);
    return found == magic && commits == 0;
  };
  const std::size_t second = header_bytes() / header_pages, looked_at = commits_at + sizeof(std::uint64_t);
  return header.size() >= looked_at && begun(0) && (header.size() < second + looked_at || begun(second));
}

}  // namespace penstock::lmdb
