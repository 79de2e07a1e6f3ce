// SPDX-License-Identifier: Apache-2.0
#include "store/lock_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::lmdb {

namespace {

constexpr mode_t file_mode = 0664;
constexpr std::uint64_t stat_block_bytes = 512;

int open_file(const std::string& file, int flags) noexcept {
  return uninterrupted([&] { return ::open(file.c_str(), flags | O_CLOEXEC, file_mode); });
}

// Returns whether another process has the store open. Each such process holds a lock on the file's first byte.
bool in_use(int fd) noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return ::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// Reserves disk space for the file's first `bytes` bytes. Returns 0, or the system's error code.
int keep_room(int fd, std::uint64_t bytes) noexcept {
  // The file's size must not change, because a process that has the file open with fewer slots has mapped only its
  // present bytes.
  return uninterrupted([&] { return ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)); }) == 0 ? 0
                                                                                                                : errno;
}

bool not_supported(int code) noexcept { return code == EOPNOTSUPP || code == ENOSYS; }

int write_zeros(int fd) {
  const std::vector<char> zeros(lock_file_bytes);
  for (std::size_t done = 0; done < zeros.size();) {
    const ssize_t put = uninterrupted([&] { return ::write(fd, zeros.data() + done, zeros.size() - done); });
    if (put <= 0) return put < 0 ? errno : EIO;
    done += static_cast<std::size_t>(put);
  }
  return uninterrupted([&] { return ::fsync(fd); }) == 0 ? 0 : errno;
}

// Creates a missing lock file. The file gets its name only after its space is reserved, so no process opens it before
// that. LMDB treats a file of zeros like one that an earlier process left. Returns 0, or the system's error code.
// Returns nothing if the file system can't create a file without a name, or another process created the lock
// file first.
std::optional<int> make_with_room(const std::string& file) {
  std::string folder = std::filesystem::path(file).parent_path().string();
  if (folder.empty()) folder = ".";
  const FileDescriptor fd(open_file(folder, O_TMPFILE | O_RDWR));
  if (fd.get() < 0) return std::nullopt;
  int code = keep_room(fd.get(), lock_file_bytes);
  if (not_supported(code)) code = write_zeros(fd.get());
  if (code != 0) return code;
  const std::string open = "/proc/self/fd/" + std::to_string(fd.get());
  if (::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  return std::nullopt;
}

}  // namespace

bool LockFileRoom::no_room() const noexcept { return code == ENOSPC || code == EDQUOT || code == EFBIG; }

bool lock_file_in_use(const std::string& file) noexcept {
  const FileDescriptor fd(open_file(file, O_RDONLY | O_NONBLOCK));
  return fd.get() < 0 ? errno != ENOENT : in_use(fd.get());
}

LockFileRoom reserve_lock_file(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 && errno == ENOENT)
    if (const std::optional<int> code = make_with_room(file)) return {*code, false};
  const FileDescriptor fd(open_file(file, O_RDWR | O_CREAT));
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) return {errno, false};
  const std::uint64_t bytes = std::max<std::uint64_t>(lock_file_bytes, static_cast<std::uint64_t>(status.st_size));
  int code = keep_room(fd.get(), bytes);
  if (not_supported(code)) {
    struct statvfs space {};
    const bool there = static_cast<std::uint64_t>(status.st_blocks) * stat_block_bytes >= bytes;
    const bool room =
        ::fstatvfs(fd.get(), &space) != 0 || static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize >= bytes;
    code = there || room ? 0 : ENOSPC;
  }
  return {code, code != 0 && in_use(fd.get())};
}

}  // namespace penstock::lmdb
