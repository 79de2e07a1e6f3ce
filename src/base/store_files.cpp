// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/store_files.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#include "base/hash.hpp"

namespace penstock {

namespace {

constexpr std::size_t buffer_bytes = 1u << 20;
constexpr mode_t file_mode = 0664;

int open_file(const std::string& file, int flags) noexcept {
  return uninterrupted([&] { return ::open(file.c_str(), flags | O_CLOEXEC, file_mode); });
}

bool synced(int fd) noexcept {
  return uninterrupted([&] { return ::fsync(fd); }) == 0;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::uint64_t keep_bytes, std::string_view source)
    : path_(std::move(path)), source_(source), file_(open_file(path_, O_WRONLY | O_CREAT)), written_(keep_bytes) {
  if (file_.get() < 0) throw write_error(source_, errno, "opening the file for writing", path_, 0);
  buffer_.reserve(buffer_bytes);
  struct stat status {};
  int code = ::fstat(file_.get(), &status) == 0 ? 0 : errno;
  if (code == 0 && status.st_size != static_cast<off_t>(keep_bytes) &&
      uninterrupted([&] { return ::ftruncate(file_.get(), static_cast<off_t>(keep_bytes)); }) != 0)
    code = errno;
  if (code == 0 && ::lseek(file_.get(), 0, SEEK_END) < 0) code = errno;
  if (code != 0) throw write_error(source_, code, "cutting off what was not committed", path_, 0);
}

OutputFile::~OutputFile() = default;

void OutputFile::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() >= buffer_bytes) {
    write(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void OutputFile::append_zeros(std::size_t count) { append(std::string(count, '\0')); }

void OutputFile::flush() {
  write(buffer_);
  buffer_.clear();
}

void OutputFile::sync() {
  if (uninterrupted([&] { return ::fdatasync(file_.get()); }) != 0)
    throw write_error(source_, errno, "syncing", path_, 0);
}

void OutputFile::close() {
  flush();
  if (const int code = file_.close(); code != 0) throw write_error(source_, code, "closing", path_, 0);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
    if (put <= 0) throw write_error(source_, put < 0 ? errno : EIO, "writing", path_, bytes.size());
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written_ += static_cast<std::uint64_t>(put);
  }
}

FileLock::~FileLock() { release(); }

void FileLock::release() noexcept {
  if (fd_ < 0) return;
  // Closing the file is not enough: a child made by fork() has a copy of the descriptor, which would keep the lock.
  ::flock(fd_, LOCK_UN);
  ::close(fd_);
  fd_ = -1;
}

bool FileLock::take(const std::string& file, std::string_view source) {
  constexpr int max_tries = 1000;
  for (int tries = 0; tries < max_tries; ++tries) {
    release();
    fd_ = open_file(file, O_RDWR | O_CREAT);
    if (fd_ < 0) throw write_error(source, errno, "making the file", file, 0);
    if (uninterrupted([&] { return ::flock(fd_, LOCK_EX | LOCK_NB); }) != 0) {
      const int code = errno;
      release();
      if (code == EWOULDBLOCK) return false;
      throw system_error(source, code, "locking", file);
    }
    // The process that held the lock may have removed or renamed the file after it was opened here. Then this lock is
    // on a file that other processes can't find, so the loop tries again.
    struct stat own {
    }, there{};
    if (::fstat(fd_, &own) == 0 && ::stat(file.c_str(), &there) == 0 && own.st_ino == there.st_ino &&
        own.st_dev == there.st_dev)
      return true;
  }
  release();
  return false;
}

void MarkLock::release() noexcept {
  if (!lock_.held()) return;
  // If there is no mark, the locked file is removed before its lock is released. A process that has opened the file
  // before gets the lock of a removed file, and `FileLock::take` notices that.
  struct stat status {};
  if (::stat(mark_.c_str(), &status) != 0 && errno == ENOENT) ::unlink(file().c_str());
  lock_.release();
}

std::string lock_holder(const std::string& file) {
  const std::string unknown = "another process";
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return unknown;
  // A line looks like "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF".
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, how, access, inode;
    long process = 0;
    if (!(words >> number >> kind >> how >> access >> process >> inode) || kind != "FLOCK" || process <= 0) continue;
    if (!inode.ends_with(":" + std::to_string(status.st_ino))) continue;
    if (process == ::getpid()) return "this process";
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
    return unknown + " (" + std::to_string(process) + (name.empty() ? "" : ", \"" + printable(name) + "\"") + ")";
  }
  return unknown;
}

std::optional<std::uint64_t> file_bytes(const std::string& file, std::string_view source) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  throw system_error(source, errno, "looking for the file", file);
}

std::uint64_t file_revision(const std::string& file) noexcept {
  const int fd = open_file(file, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return 0;
  const std::uint64_t revision = file_revision(fd);
  ::close(fd);
  return revision;
}

std::uint64_t file_revision(int descriptor) noexcept {
  constexpr off_t looked_at = 4096;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return 0;
  const std::int64_t facts[3] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  std::uint64_t hash = detail::hash_bytes(facts, sizeof facts);
  // Two versions of a file may have the same size and time, for example if they are unpacked from archives that are
  // built reproducibly. So parts of the contents are hashed too.
  std::array<char, looked_at> part;
  for (const off_t at : {off_t{0}, status.st_size / 2, std::max<off_t>(status.st_size - looked_at, 0)}) {
    const ssize_t got = uninterrupted([&] { return ::pread(descriptor, part.data(), part.size(), at); });
    if (got > 0) hash = detail::hash_bytes(part.data(), static_cast<std::size_t>(got), hash);
  }
  return hash;
}

std::optional<std::string> read_text(const std::string& file, std::string_view source, std::uint64_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe waits until a process opens it for writing, perhaps for ever. A pipe that a
  // shell makes of a command's output has a writer already, and is read like any other file.
  const FileDescriptor fd(open_file(file, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw system_error(source, errno, "opening", file);
  }
  const auto refuse = [&](Errc code, const char* why) { throw file_error(source, file, code, why); };
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw system_error(source, errno, "opening", file);
  const bool pipe = S_ISFIFO(status.st_mode);
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) refuse(Errc::invalid_argument, "it is a device, not a file");
  std::string text;
  std::array<char, 4096> part;
  for (bool begun = false;; begun = true) {
    const ssize_t got = uninterrupted([&] { return ::read(fd.get(), part.data(), part.size()); });
    const bool later = got < 0 && errno == EAGAIN;
    if (got < 0 && !later) throw system_error(source, errno, "reading", file);
    if (pipe && !begun) {
      if (got == 0) refuse(Errc::invalid_argument, "it is a pipe that nobody writes into, or that was read before");
      ::fcntl(fd.get(), F_SETFL, O_RDONLY);  // from here on, reads wait for the writer
    }
    if (later) continue;
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) refuse(Errc::limit_exceeded, "the file is too large");
  }
}

void replace_text(const std::string& file, std::string_view text, bool sync, std::string_view source,
                  std::string_view ending) {
  const std::string fresh = file + std::string(ending);
  const auto require = [&](int code, std::string_view doing) {
    if (code != 0) throw write_error(source, code, doing, fresh, text.size());
  };
  try {
    FileDescriptor fd(open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC));
    require(fd.get() < 0 ? errno : 0, "creating");
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t put = uninterrupted([&] { return ::write(fd.get(), text.data() + done, text.size() - done); });
      require(put > 0 ? 0 : put < 0 ? errno : EIO, "writing");
      done += static_cast<std::size_t>(put);
    }
    require(sync && !synced(fd.get()) ? errno : 0, "syncing");
    require(fd.close(), "closing");
    rename_file(fresh, file, source);
  } catch (...) {
    ::unlink(fresh.c_str());
    throw;
  }
  if (sync) sync_folder_of(file, source);
}

void rename_file(const std::string& from, const std::string& to, std::string_view source) {
  if (uninterrupted([&] { return std::rename(from.c_str(), to.c_str()); }) != 0)
    throw system_error(source, errno, "renaming", from);
}

void remove_file(const std::string& file, std::string_view source) {
  if (uninterrupted([&] { return ::unlink(file.c_str()); }) != 0 && errno != ENOENT)
    throw system_error(source, errno, "removing", file);
}

void sync_file(const std::string& file, std::string_view source) {
  const FileDescriptor fd(open_file(file, O_RDONLY));
  if (fd.get() < 0 || !synced(fd.get())) throw write_error(source, errno, "syncing", file, 0);
}

namespace {

struct Unsynced {
  std::mutex mutex;
  std::vector<std::string> folders;
};

// Never destroyed, because static objects of the application may still write files when they are destroyed.
Unsynced& unsynced() {
  static Unsynced* const one = new Unsynced;
  return *one;
}

// Returns whether the code means that the file system can't sync folders at all, like CIFS and some FUSE file systems.
bool refuses_folders(int code) noexcept { return code == EINVAL || code == ENOTSUP || code == ENOSYS; }

}  // namespace

void sync_folder_of(const std::string& file, std::string_view source) {
  std::string folder = std::filesystem::path(file).parent_path().string();
  if (folder.empty()) folder = ".";
  const FileDescriptor fd(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (fd.get() >= 0 && synced(fd.get())) return;
  const int code = errno;
  if (fd.get() < 0 || !refuses_folders(code)) throw write_error(source, code, "syncing the folder", folder, 0);
  const std::lock_guard lock(unsynced().mutex);
  if (std::ranges::find(unsynced().folders, folder) == unsynced().folders.end()) unsynced().folders.push_back(folder);
}

std::vector<std::string> unsynced_folders() {
  const std::lock_guard lock(unsynced().mutex);
  return unsynced().folders;
}

void make_folder(const std::string& folder, std::string_view source) {
  const std::filesystem::path path(folder);
  std::vector<std::filesystem::path> missing;
  std::error_code failed;
  for (std::filesystem::path at = path; !at.empty() && !std::filesystem::exists(at, failed); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
    if (at == at.parent_path()) break;
  }
  do {
    failed.clear();
    if (!path.empty()) std::filesystem::create_directories(path, failed);
  } while (failed == std::errc::interrupted);
  if (failed) throw write_error(source, failed.value(), "making the folder", folder, 0);
  for (const std::filesystem::path& made : missing) sync_folder_of(made.string(), source);
}

}  // namespace penstock
