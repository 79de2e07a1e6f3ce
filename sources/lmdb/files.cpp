#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "errors.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::size_t largest_text = 16u << 20;

class Descriptor {
 public:
  Descriptor(const std::string& file, int flags) : fd_(::open(file.c_str(), flags | O_CLOEXEC, 0644)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

StoreFiles place_store(const std::string& path, bool single_file) {
  if (single_file) return {path, path, path + "-unfinished", true};
  const std::filesystem::path folder(path);
  return {path, (folder / "data.mdb").string(), (folder / "unfinished.json").string(), false};
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
  constexpr std::uint64_t header_pages = 2, largest_page = 32768;
  return header_pages * std::min(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), largest_page);
}

std::optional<std::string> read_text(const std::string& file) {
  const Descriptor fd(file, O_RDONLY);
  if (fd.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw error_of(errno, "opening", file);
  }
  std::string text;
  std::array<char, 4096> part;
  while (true) {
    const ssize_t got = ::read(fd.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw error_of(errno, "reading", file);
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > largest_text) throw Error(Errc::limit_exceeded, "the manifest is too large").with_file(file);
  }
}

void sync_folder_of(const std::string& file) {
  std::string folder = std::filesystem::path(file).parent_path().string();
  if (folder.empty()) folder = ".";
  const Descriptor fd(folder, O_RDONLY | O_DIRECTORY);
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) throw error_of(errno, "syncing the folder", folder);
}

void replace_text(const std::string& file, const std::string& text, bool sync) {
  const std::string fresh = file + ".new";
  {
    const Descriptor fd(fresh, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd.get() < 0) throw write_error(errno, "creating", fresh, text.size());
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t put = ::write(fd.get(), text.data() + done, text.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) throw write_error(put < 0 ? errno : EIO, "writing", fresh, text.size());
      done += static_cast<std::size_t>(put);
    }
    if (sync && ::fsync(fd.get()) != 0) throw write_error(errno, "syncing", fresh, text.size());
  }
  if (std::rename(fresh.c_str(), file.c_str()) != 0) throw error_of(errno, "renaming", fresh);
  if (sync) sync_folder_of(file);
}

void remove_file(const std::string& file, bool sync) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw error_of(errno, "removing", file);
  if (sync) sync_folder_of(file);
}

}  // namespace penstock::lmdb
