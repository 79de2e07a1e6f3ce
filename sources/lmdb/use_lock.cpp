#include "use_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "errors.hpp"

namespace penstock::lmdb {

UseLock::UseLock(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw write_error(failed.value(), "making the cache's folder", folder, 0);
  const std::string file = (std::filesystem::path(folder) / "in-use.lock").string();
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
  if (fd_ < 0) throw write_error(errno, "making the cache's lock", file, 0);
  if (::flock(fd_, LOCK_SH) == 0) return;  // waits for one who empties it
  const int code = errno;
  ::close(fd_);
  throw write_error(code, "taking the cache's lock", file, 0);
}

// A child made by fork() shares the lock, and keeps it where this only closes the file.
UseLock::~UseLock() { ::close(fd_); }

bool UseLock::alone(const std::function<void()>& act) const {
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::flock(fd_, LOCK_SH);  // a change that fails may have lost what was held
    return false;
  }
  try {
    act();
  } catch (...) {
    ::flock(fd_, LOCK_SH);
    throw;
  }
  ::flock(fd_, LOCK_SH);
  return true;
}

}  // namespace penstock::lmdb
