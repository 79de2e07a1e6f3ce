// SPDX-License-Identifier: Apache-2.0
#include "isolation/confine.hpp"

#include <hdf5.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace penstock::hdf5 {

namespace {

// GCC has macros for sanitizers. With clang, `__has_feature` tells whether a sanitizer is on.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

void close_others() {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) == 0) return;
#endif
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int fd = STDERR_FILENO + 1; fd < (most > 0 ? most : 1024); ++fd) ::close(fd);
}

void limit(int resource, std::uint64_t to) {
  rlimit now{};
  const auto which = static_cast<decltype(RLIMIT_AS)>(resource);
  if (::getrlimit(which, &now) != 0) return;
  rlim_t lower = now.rlim_max == RLIM_INFINITY || to < now.rlim_max ? static_cast<rlim_t>(to) : now.rlim_max;
  now.rlim_cur = now.rlim_max = lower;
  ::setrlimit(which, &now);
}

}  // namespace

void confine(std::uint64_t memory_bytes, int socket) {
  close_others();
  // This process must end when its parent process ends, for whatever reason. PR_SET_PDEATHSIG is not used, because it
  // ends this process as soon as the parent's thread that started it ends. The system closes the parent's side of the
  // socket only when all threads of the parent have ended, so a thread waits for that here.
  try {
    std::thread([socket] {
      pollfd state{socket, POLLRDHUP, 0};
      while (::poll(&state, 1, -1) < 0 && errno == EINTR) {
      }
      ::_exit(0);
    }).detach();
  } catch (const std::system_error&) {  // without this thread, this process ends only after the question in progress
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NPROC, 0);
  if (!sanitized) limit(RLIMIT_AS, memory_bytes);  // sanitizers reserve more address space than that
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  H5PLset_loading_state(0);
}

}  // namespace penstock::hdf5
