// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: one read of a file fails, as a disk's or a network's might, and no other.
// PENSTOCK_TEST_FAILING_READ: "NUMBER NAME", the number-th read, from 0, of files whose path ends in NAME.
// PENSTOCK_TEST_WAITING_RENAME: "NAME", a file gets a name that ends in NAME once its path with "-go" is there; until
// then its path with "-waits" is.
// PENSTOCK_TEST_NO_MAP: "1", no file can be mapped shared, as on a file system without maps.
// PENSTOCK_TEST_KILLED_WRITE: "NAME", the program is killed before it writes to a file whose path ends in NAME.
// PENSTOCK_TEST_LOOKS: "FILE", each name that is asked whether it is a link becomes a line of FILE.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool is_of(int file, const char* name) {
  char path[4096];
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = ::readlink(link, path, sizeof path);
  const std::size_t wanted = std::strlen(name);
  return length > 0 && static_cast<std::size_t>(length) >= wanted &&
         std::memcmp(path + length - wanted, name, wanted) == 0;
}

bool fails(int file) {
  static std::atomic<long> reads{0};
  static const char* const wish = std::getenv("PENSTOCK_TEST_FAILING_READ");
  if (wish == nullptr) return false;
  char* name = nullptr;
  const long number = std::strtol(wish, &name, 10);
  if (*name == ' ') ++name;
  return is_of(file, name) && reads++ == number;
}

using Pread = ssize_t (*)(int, void*, std::size_t, off_t);

ssize_t read_or_fail(const char* function, int file, void* to, std::size_t bytes, off_t at) {
  if (fails(file)) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<Pread>(::dlsym(RTLD_NEXT, function))(file, to, bytes, at);
}

void note_look(const char* name) {
  static const char* const log = std::getenv("PENSTOCK_TEST_LOOKS");
  if (log == nullptr) return;
  const std::string line = std::string(name) + "\n";
  const int file = ::open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (::write(file, line.data(), line.size()) < 0) ::abort();
  ::close(file);
}

}  // namespace

extern "C" {
void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t at) noexcept {
  static const char* const wish = std::getenv("PENSTOCK_TEST_NO_MAP");
  if (wish != nullptr && file >= 0 && (flags & MAP_SHARED) != 0) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  using Mmap = void* (*)(void*, std::size_t, int, int, int, off_t);
  return reinterpret_cast<Mmap>(::dlsym(RTLD_NEXT, "mmap"))(where, bytes, protection, flags, file, at);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
  static const char* const name = std::getenv("PENSTOCK_TEST_KILLED_WRITE");
  if (name != nullptr && is_of(file, name)) ::raise(SIGKILL);
  using Write = ssize_t (*)(int, const void*, std::size_t);
  return reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "write"))(file, from, bytes);
}
int lstat(const char* name, struct stat* status) {
  note_look(name);
  using Lstat = int (*)(const char*, struct stat*);
  return reinterpret_cast<Lstat>(::dlsym(RTLD_NEXT, "lstat"))(name, status);
}
int fstatat(int folder, const char* name, struct stat* status, int flags) {
  if ((flags & AT_SYMLINK_NOFOLLOW) != 0) note_look(name);
  using Fstatat = int (*)(int, const char*, struct stat*, int);
  return reinterpret_cast<Fstatat>(::dlsym(RTLD_NEXT, "fstatat"))(folder, name, status, flags);
}
int rename(const char* from, const char* to) {
  static const char* const name = std::getenv("PENSTOCK_TEST_WAITING_RENAME");
  const std::string path = to;
  if (name != nullptr && path.ends_with(name)) {
    ::close(::creat((path + "-waits").c_str(), 0644));
    while (::access((path + "-go").c_str(), F_OK) != 0) ::usleep(1000);
    ::unlink((path + "-waits").c_str());
    ::unlink((path + "-go").c_str());
  }
  using Rename = int (*)(const char*, const char*);
  return reinterpret_cast<Rename>(::dlsym(RTLD_NEXT, "rename"))(from, to);
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t at) { return read_or_fail("pread", file, to, bytes, at); }
ssize_t pread64(int file, void* to, std::size_t bytes, off_t at) {
  return read_or_fail("pread64", file, to, bytes, at);
}
}
