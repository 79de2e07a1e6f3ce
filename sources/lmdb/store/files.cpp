// SPDX-License-Identifier: Apache-2.0
#include "store/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "store/errors.hpp"

namespace penstock::lmdb {

namespace {

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

StoreFiles place_store(const std::string& path, bool single_file) {
  if (single_file) return {path, path, path + "-lock", path + "-unfinished", path + "-made-by.json", true};
  const std::filesystem::path folder(path);
  const auto in_folder = [&](const char* name) { return (folder / name).string(); };
  return {path, in_folder("data.mdb"), in_folder("lock.mdb"), in_folder("unfinished.json"), in_folder("made-by.json"),
          false};
}

StoreFiles find_store(const std::string& path) {
  if (path.empty()) throw Error(Errc::invalid_argument, "the store's path is empty").with_source("lmdb");
  StoreFiles files = place_store(path, !is_folder(path));
  if (!facts_of(files.data)) throw error_of(ENOENT, "opening the store", files.data);
  // Refuses a path that is not a regular file, like a pipe. Opening a pipe would wait for a writer.
  std::error_code failed;
  if (!std::filesystem::is_regular_file(files.data, failed))
    throw error_in(files.data, Errc::invalid_argument, "it is neither a file nor a folder; name a store");
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
  constexpr std::uint64_t header_pages = 2, largest_page = 32768;
  return header_pages * std::min(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), largest_page);
}

bool holds_nothing(const StoreFiles& files) {
  const std::uint64_t bytes = facts_of(files.data).value_or(FileFacts{}).bytes;
  if (bytes == 0) return true;
  if (!facts_of(files.unfinished)) return false;
  if (bytes < header_bytes()) return true;
  std::vector<char> header(header_bytes());
  std::ifstream in(files.data, std::ios::binary);
  if (!in.read(header.data(), static_cast<std::streamsize>(header.size())))
    throw error_of(EIO, "reading the store's header", files.data);
  return std::ranges::all_of(header, [](char byte) { return byte == 0; });
}

}  // namespace penstock::lmdb
