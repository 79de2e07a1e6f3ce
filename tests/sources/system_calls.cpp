// SPDX-License-Identifier: Apache-2.0
// Stands in for functions of the C library, and must not see their declarations.
#include "system_calls.hpp"

#include <sys/syscall.h>

#include <array>
#include <cstdarg>
#include <cstddef>

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {
long syscall(long number, ...) noexcept;
int open(const char* path, int flags, ...);
int fsync(int fd);
int fdatasync(int fd);
int madvise(void* begin, std::size_t bytes, int advice) noexcept;
}

namespace penstock_test {

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

namespace {

constexpr int here = -100;  // AT_FDCWD

void tell_of_sync(int fd) {
  const auto tell = system_calls().before_sync;
  if (!tell) return;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  std::array<char, 4096> path;
  const long bytes = syscall(SYS_readlinkat, here, link.c_str(), path.data(), path.size());
  tell(std::string(path.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0));
}

}  // namespace

}  // namespace penstock_test

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  if (const auto tell = penstock_test::system_calls().before_open) tell(path);
  return static_cast<int>(syscall(SYS_openat, penstock_test::here, path, flags, mode));
}

int fsync(int fd) {
  penstock_test::tell_of_sync(fd);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  penstock_test::tell_of_sync(fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

int madvise(void* begin, std::size_t bytes, int advice) noexcept {
  if (const auto tell = penstock_test::system_calls().before_madvise) tell();
  return static_cast<int>(syscall(SYS_madvise, begin, bytes, advice));
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
