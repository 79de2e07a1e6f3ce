// SPDX-License-Identifier: Apache-2.0
#include "store/use_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <penstock/extend/store_files.hpp>

#include "store/errors.hpp"

namespace penstock::lmdb {

UseLock::UseLock(const std::string& folder) {
  make_folder(folder, source_name);
  const std::string file = (std::filesystem::path(folder) / "in-use.lock").string();
  fd_ = uninterrupted([&] { return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664); });
  if (fd_ < 0) throw write_error(errno, "making the cache's lock", file, 0);
  if (share()) return;  // waits while another process empties the cache
  const int code = errno;
  ::close(fd_);
  throw write_error(code, "taking the cache's lock", file, 0);
}

// Only closes the file. A child made by fork() shares the lock, and unlocking it in one process would release it in
// both.
UseLock::~UseLock() { ::close(fd_); }

bool UseLock::share() const noexcept {
  return uninterrupted([&] { return ::flock(fd_, LOCK_SH); }) == 0;
}

bool UseLock::alone(const std::function<void()>& act) const {
  if (uninterrupted([&] { return ::flock(fd_, LOCK_EX | LOCK_NB); }) != 0) {
    share();  // the failed change to an exclusive lock may have released the shared lock
    return false;
  }
  try {
    act();
  } catch (...) {
    share();
    throw;
  }
  share();
  return true;
}

}  // namespace penstock::lmdb
