// SPDX-License-Identifier: Apache-2.0
// Stands in for functions of the C library, and must not see their declarations.
#include "calls_library.hpp"

#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
struct iovec {
  void* iov_base;
  std::size_t iov_len;
};

extern "C" {
long syscall(long number, ...) noexcept;
int open(const char* path, int flags, ...);
int open64(const char* path, int flags, ...);
int openat(int folder, const char* path, int flags, ...);
int openat64(int folder, const char* path, int flags, ...);
int close(int fd);
long pread(int fd, void* bytes, std::size_t count, long offset);
long pread64(int fd, void* bytes, std::size_t count, long offset);
long write(int fd, const void* bytes, std::size_t count);
long pwrite(int fd, const void* bytes, std::size_t count, long offset);
long pwrite64(int fd, const void* bytes, std::size_t count, long offset);
long writev(int fd, const iovec* parts, int count);
int fsync(int fd);
int fdatasync(int fd);
int syncfs(int fd) noexcept;
int msync(void* begin, std::size_t bytes, int flags);
int ftruncate(int fd, long bytes) noexcept;
int ftruncate64(int fd, long bytes) noexcept;
int truncate(const char* path, long bytes) noexcept;
int fallocate(int fd, int mode, long offset, long bytes);
int fallocate64(int fd, int mode, long offset, long bytes);
int flock(int fd, int operation) noexcept;
int rename(const char* from, const char* to) noexcept;
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept;
int unlink(const char* path) noexcept;
int unlinkat(int folder, const char* path, int flags) noexcept;
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept;
int link(const char* from, const char* to) noexcept;
int remove(const char* path) noexcept;
int mkdir(const char* path, unsigned mode) noexcept;
int mkdirat(int folder, const char* path, unsigned mode) noexcept;
}

namespace {

constexpr int here = -100;  // AT_FDCWD
constexpr int create = 0100, cut_off = 01000, temporary = 020000000 | 0200000, data_sync = 010000,
              folder_only = 0200000;
constexpr int remove_folder = 0x200;  // AT_REMOVEDIR

struct Opened {
  std::string path;
  int flags = 0;
};

struct Watch {
  std::recursive_mutex mutex;
  bool on = false;
  std::string folder, name;
  int log = -1, data = -1, code = 0;
  unsigned long count = 0, fail_at = 0;
  std::map<int, Opened> open;
};

Watch& watch() {
  static Watch* const one = new Watch;
  return *one;
}

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  std::array<char, 4096> folder;
  const long bytes = syscall(SYS_getcwd, folder.data(), folder.size());
  return std::string(folder.data(), bytes > 0 ? static_cast<std::size_t>(bytes - 1) : 0) + "/" + path;
}

bool below(const std::string& path) {
  const Watch& w = watch();
  return w.on && (path == w.folder || path.starts_with(w.folder + "/"));
}

// 0, or what the call fails with.
struct Call {
  const char* name;
  std::string path, second = "-";
  long offset = -1;
  std::size_t bytes = 0;
  std::string flags = {};
};

int number(const Call& call, int failed_anyway = 0) {
  Watch& w = watch();
  const unsigned long n = ++w.count;
  const bool named = !w.name.empty() && (w.name == call.name || w.name == std::string(call.name) + " " + call.flags);
  const int code = (w.name.empty() ? n == w.fail_at : named) ? w.code : 0;
  if (w.log >= 0) {
    const std::string line = std::to_string(n) + "\t" + call.name + "\t" + call.path + "\t" + call.second + "\t" +
                             std::to_string(call.offset) + "\t" + std::to_string(call.bytes) + "\t" +
                             (call.flags.empty() ? "-" : call.flags) + "\t" +
                             std::to_string(code != 0 ? code : failed_anyway) + "\n";
    syscall(SYS_write, w.log, line.data(), line.size());
  }
  return code;
}

[[noreturn]] void end_here() {
  constexpr int kill_signal = 9;
  syscall(SYS_kill, syscall(SYS_getpid), kill_signal);
  for (;;) syscall(SYS_pause);
}

// True, and errno is set, where the call is to fail.
bool fails(const Call& call) {
  const int code = number(call);
  if (code == penstock_test::killed) end_here();
  if (code == 0 || code == penstock_test::short_write) return false;
  errno = code;
  return true;
}

const Opened* opened(int fd) {
  Watch& w = watch();
  if (!w.on) return nullptr;
  const auto found = w.open.find(fd);
  return found == w.open.end() ? nullptr : &found->second;
}

// The whole of a path below an open folder that is noted. Empty for others: the C++ library goes through folders so.
std::string absolute_at(int folder, const char* path) {
  const std::lock_guard lock(watch().mutex);
  const Opened* const above = opened(folder);
  return above == nullptr || path[0] == '/' ? "" : above->path + "/" + path;
}

bool known_path(const std::string& path) { return syscall(SYS_faccessat, here, path.c_str(), 0) == 0; }

int open_noted(const std::string& name, int flags, unsigned mode) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  const char* const path = name.c_str();
  const int before = errno;
  if (w.on && below(name)) {
    const bool is_temporary = (flags & temporary) == temporary;
    const bool created = (flags & create) != 0 && !is_temporary && !known_path(name);
    errno = before;
    std::string words;
    if (created) words = "created";
    constexpr int access = 03;
    if ((flags & access) != 0) words += words.empty() ? "writes" : ",writes";
    if ((flags & cut_off) != 0) words += words.empty() ? "cut" : ",cut";
    if ((flags & folder_only) != 0) words += words.empty() ? "folder" : ",folder";
    if (fails({.name = "open", .path = name, .flags = words})) return -1;
    const int real = flags & ~data_sync;
    const int fd = static_cast<int>(syscall(SYS_openat, here, path, real, mode));
    if (fd >= 0) w.open[fd] = {is_temporary ? name + "/(temporary)" : name, flags};
    return fd;
  }
  return static_cast<int>(syscall(SYS_openat, here, path, flags, mode));
}

// Half of the bytes where it is to be short, which a read never is. `keep` puts the bytes into the file of data.
template <class Act, class Keep>
long bytes_noted(const char* name, int fd, std::size_t bytes, long offset, const Act& act, const Keep& keep) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  const Opened* const file = opened(fd);
  if (file == nullptr) return act(bytes);
  if (w.data >= 0) {
    constexpr int from_here = 1;  // SEEK_CUR
    if (offset < 0) offset = syscall(SYS_lseek, fd, 0L, from_here);
    keep(w.data);
  }
  const int code = number({.name = name,
                           .path = file->path,
                           .offset = offset,
                           .bytes = bytes,
                           .flags = (file->flags & data_sync) != 0 ? "synced" : ""});
  if (code == penstock_test::short_write) return act(bytes > 1 ? bytes / 2 : bytes);
  if (code == penstock_test::killed) {
    act(bytes / 2);
    end_here();
  }
  if (code == 0) return act(bytes);
  errno = code;
  return -1;
}

constexpr auto keep_nothing = [](int) {};

template <class Act>
int call_noted(const char* name, int fd, long offset, std::size_t bytes, const Act& act) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  const Opened* const file = opened(fd);
  if (file != nullptr &&
      fails({.name = name,
             .path = file->path,
             .offset = offset,
             .bytes = bytes,
             .flags = (file->flags & folder_only) != 0 && (file->flags & temporary) != temporary ? "folder" : ""}))
    return -1;
  return static_cast<int>(act(file != nullptr));
}

template <class Act>
int path_noted(const char* name, const std::string& path, const std::string& second, const Act& act) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  if (below(second == "-" ? path : second) && fails({.name = name, .path = path, .second = second})) return -1;
  return static_cast<int>(act());
}

void begin_as_told() __attribute__((constructor));
void begin_as_told() {
  const char* const folder = std::getenv("PENSTOCK_CALLS_FOLDER");
  if (folder == nullptr) return;
  const char* const at = std::getenv("PENSTOCK_CALLS_FAIL_AT");
  const char* const code = std::getenv("PENSTOCK_CALLS_CODE");
  penstock_calls_begin(folder, std::getenv("PENSTOCK_CALLS_LOG"), at == nullptr ? 0 : std::strtoul(at, nullptr, 10),
                       code == nullptr ? 0 : std::atoi(code), std::getenv("PENSTOCK_CALLS_NAME"));
  if (const char* const data = std::getenv("PENSTOCK_CALLS_DATA")) penstock_calls_keep_data(data);
}

}  // namespace

void penstock_calls_begin(const char* folder, const char* log, unsigned long fail_at, int code, const char* name) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  w.folder = absolute(folder);
  w.name = name == nullptr ? "" : name;
  w.fail_at = fail_at;
  w.code = code;
  w.count = 0;
  w.open.clear();
  constexpr int write_only = 01, append = 02000, cut = 01000, close_on_exec = 02000000;
  w.log =
      log == nullptr
          ? -1
          : static_cast<int>(syscall(SYS_openat, here, log, write_only | create | append | cut | close_on_exec, 0600));
  w.on = true;
}

void penstock_calls_keep_data(const char* file) {
  constexpr int write_only = 01, append = 02000, close_on_exec = 02000000;
  watch().data =
      static_cast<int>(syscall(SYS_openat, here, file, write_only | create | append | cut_off | close_on_exec, 0600));
}

unsigned long penstock_calls_end(void) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  w.on = false;
  for (int* const file : {&w.log, &w.data}) {
    if (*file >= 0) syscall(SYS_close, *file);
    *file = -1;
  }
  return w.count;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  return open_noted(absolute(path), flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  return open_noted(absolute(path), flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  const std::string name = absolute_at(folder, path);
  if (name.empty()) return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
  return open_noted(name, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  return openat(folder, path, flags, mode);
}

int close(int fd) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  const auto found = w.open.find(fd);
  constexpr int access = 03;
  // As of a file system of a network, which writes where a file is closed: closed it is all the same.
  const bool told = w.on && found != w.open.end() && (found->second.flags & access) != 0 &&
                    fails({.name = "close", .path = found->second.path});
  const int code = errno;
  w.open.erase(fd);
  const int result = static_cast<int>(syscall(SYS_close, fd));
  if (!told) return result;
  errno = code;
  return -1;
}

long pread(int fd, void* bytes, std::size_t count, long offset) {
  return bytes_noted(
      "pread", fd, count, offset, [&](std::size_t) { return syscall(SYS_pread64, fd, bytes, count, offset); },
      keep_nothing);
}
long pread64(int fd, void* bytes, std::size_t count, long offset) { return pread(fd, bytes, count, offset); }
long write(int fd, const void* bytes, std::size_t count) {
  return bytes_noted(
      "write", fd, count, -1, [&](std::size_t some) { return syscall(SYS_write, fd, bytes, some); },
      [&](int data) { syscall(SYS_write, data, bytes, count); });
}
long pwrite(int fd, const void* bytes, std::size_t count, long offset) {
  return bytes_noted(
      "pwrite", fd, count, offset, [&](std::size_t some) { return syscall(SYS_pwrite64, fd, bytes, some, offset); },
      [&](int data) { syscall(SYS_write, data, bytes, count); });
}
long pwrite64(int fd, const void* bytes, std::size_t count, long offset) { return pwrite(fd, bytes, count, offset); }
long writev(int fd, const iovec* parts, int count) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes_noted(
      "writev", fd, bytes, -1,
      [&](std::size_t some) { return syscall(SYS_writev, fd, parts, some == bytes || count == 1 ? count : count / 2); },
      [&](int data) { syscall(SYS_writev, data, parts, count); });
}

int fsync(int fd) {
  return call_noted("fsync", fd, -1, 0, [&](bool noted) { return noted ? 0 : syscall(SYS_fsync, fd); });
}
int fdatasync(int fd) {
  return call_noted("fdatasync", fd, -1, 0, [&](bool noted) { return noted ? 0 : syscall(SYS_fdatasync, fd); });
}
int syncfs(int fd) noexcept {
  return call_noted("syncfs", fd, -1, 0, [&](bool noted) { return noted ? 0 : syscall(SYS_syncfs, fd); });
}
int msync(void* begin, std::size_t bytes, int flags) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  if (w.on && fails({.name = "msync", .path = "(memory)", .bytes = bytes})) return -1;
  return static_cast<int>(syscall(SYS_msync, begin, bytes, flags));
}
int ftruncate(int fd, long bytes) noexcept {
  return call_noted("ftruncate", fd, -1, static_cast<std::size_t>(bytes),
                    [&](bool) { return syscall(SYS_ftruncate, fd, bytes); });
}
int ftruncate64(int fd, long bytes) noexcept { return ftruncate(fd, bytes); }
int truncate(const char* path, long bytes) noexcept {
  return path_noted("truncate", absolute(path), "-", [&] { return syscall(SYS_truncate, path, bytes); });
}
int fallocate(int fd, int mode, long offset, long bytes) {
  return call_noted("fallocate", fd, offset, static_cast<std::size_t>(bytes),
                    [&](bool) { return syscall(SYS_fallocate, fd, mode, offset, bytes); });
}
int fallocate64(int fd, int mode, long offset, long bytes) { return fallocate(fd, mode, offset, bytes); }
int flock(int fd, int operation) noexcept {
  return call_noted("flock", fd, -1, static_cast<std::size_t>(operation),
                    [&](bool) { return syscall(SYS_flock, fd, operation); });
}
int rename(const char* from, const char* to) noexcept {
  return path_noted("rename", absolute(from), absolute(to),
                    [&] { return syscall(SYS_renameat2, here, from, here, to, 0); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return path_noted("rename", absolute_at(from_folder, from), absolute_at(to_folder, to),
                    [&] { return syscall(SYS_renameat2, from_folder, from, to_folder, to, 0); });
}
int unlink(const char* path) noexcept {
  return path_noted("unlink", absolute(path), "-", [&] { return syscall(SYS_unlinkat, here, path, 0); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return path_noted((flags & remove_folder) != 0 ? "rmdir" : "unlink", absolute_at(folder, path), "-",
                    [&] { return syscall(SYS_unlinkat, folder, path, flags); });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return path_noted("linkat", absolute(from), absolute(to),
                    [&] { return syscall(SYS_linkat, from_folder, from, to_folder, to, flags); });
}
int link(const char* from, const char* to) noexcept { return linkat(here, from, here, to, 0); }
int remove(const char* path) noexcept {
  constexpr int is_a_folder = 21, not_permitted = 1;  // EISDIR, EPERM
  if (unlink(path) == 0) return 0;
  if (errno != is_a_folder && errno != not_permitted) return -1;
  return path_noted("rmdir", absolute(path), "-", [&] { return syscall(SYS_unlinkat, here, path, remove_folder); });
}
int mkdir(const char* path, unsigned mode) noexcept {
  return path_noted("mkdir", absolute(path), "-", [&] { return syscall(SYS_mkdirat, here, path, mode); });
}
int mkdirat(int folder, const char* path, unsigned mode) noexcept {
  return path_noted("mkdir", absolute_at(folder, path), "-", [&] { return syscall(SYS_mkdirat, folder, path, mode); });
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
