// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <type_traits>

#include <penstock/error.hpp>

namespace penstock {

namespace {

std::atomic<pid_t> with_threads{0};

void refuse_unless(pid_t first, pid_t now) {
  if (first == now) return;
  throw Error(Errc::forked,
              "the process this one was forked from had begun to use threads, which do not survive fork(); fork before "
              "the first loader or executor is made, or exec in the child");
}

// Returns a page that the kernel clears in every child process, however the child was made. Returns null if the system
// can't provide such a page.
std::atomic<pid_t>* map_process_id() noexcept {
#ifdef MADV_WIPEONFORK
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  // An emulator may accept all advice without following it. Such an emulator accepts even `no_advice`, and then the
  // page is not used.
  constexpr int no_advice = -1;
  if (::madvise(page, bytes, no_advice) != 0 && ::madvise(page, bytes, MADV_WIPEONFORK) == 0)
    return new (page) std::atomic<pid_t>(0);
  ::munmap(page, bytes);
#endif
  return nullptr;
}

}  // namespace

int process_id() noexcept {
  static_assert(std::is_same_v<pid_t, int>);
  static std::atomic<pid_t>* const known = map_process_id();  // never unmapped: loaders may live in statics
  if (known == nullptr) return ::getpid();
  if (const pid_t id = known->load(std::memory_order_relaxed); id != 0) return id;
  const pid_t id = ::getpid();
  known->store(id, std::memory_order_relaxed);
  return id;
}

namespace detail {

pid_t process_with_threads() {
  const pid_t now = process_id();
  pid_t first = 0;
  if (!with_threads.compare_exchange_strong(first, now)) refuse_unless(first, now);
  return now;
}

void check_not_forked() {
  if (const pid_t first = with_threads; first != 0) refuse_unless(first, process_id());
}

}  // namespace detail
}  // namespace penstock
