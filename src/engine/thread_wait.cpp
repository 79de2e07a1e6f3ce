// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_wait.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <initializer_list>

namespace penstock::detail::runtime {

namespace {

bool is_one_of(long call, std::initializer_list<long> calls) noexcept {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

// Some architectures lack the older calls, like `open` and `poll`.
Wait wait_in(long call) noexcept {
  if (is_one_of(call, {SYS_futex})) return Wait::lock;
  if (is_one_of(call, {SYS_nanosleep, SYS_clock_nanosleep})) return Wait::sleep;
  if (is_one_of(call, {SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_preadv2, SYS_openat, SYS_newfstatat, SYS_statx,
                       SYS_io_getevents, SYS_getdents64,
#ifdef SYS_open
                       SYS_open, SYS_stat,
#endif
                       SYS_madvise, SYS_readahead}))
    return Wait::read;
  if (is_one_of(call, {SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_connect, SYS_accept4, SYS_ppoll,
                       SYS_pselect6, SYS_epoll_pwait,
#ifdef SYS_poll
                       SYS_poll, SYS_select, SYS_epoll_wait
#endif
                      }))
    return Wait::network;
  return Wait::other;
}

}  // namespace

int this_thread_id() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

// The text is "running", or the number of the system call and its arguments. The number is -1 if the thread waits
// outside a call, for a page for example.
std::optional<Wait> parse_wait(std::string_view syscall) noexcept {
  long call = 0;
  const auto [after, error] = std::from_chars(syscall.data(), syscall.data() + syscall.size(), call);
  if (error != std::errc() || after == syscall.data() + syscall.size() || *after != ' ') return std::nullopt;
  return call == -1 ? Wait::page : wait_in(call);
}

std::optional<Wait> wait_of_thread(int id) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/syscall", id);
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[160];
  const ssize_t got = ::read(file, text, sizeof text);
  ::close(file);
  return got <= 0 ? std::nullopt : parse_wait({text, static_cast<std::size_t>(got)});
}

}  // namespace penstock::detail::runtime
