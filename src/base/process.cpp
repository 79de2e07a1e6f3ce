#include "base/process.hpp"

#include <unistd.h>

#include <atomic>

#include <penstock/error.hpp>

namespace penstock::detail {

namespace {

std::atomic<pid_t> with_threads{0};

void refuse_unless(pid_t first, pid_t now) {
  if (first == now) return;
  throw Error(Errc::forked,
              "the process this one was forked from had begun to use threads, which do not survive fork(); fork before "
              "the first loader or executor is made, or exec in the child");
}

}  // namespace

pid_t process_with_threads() {
  const pid_t now = ::getpid();
  pid_t first = 0;
  if (!with_threads.compare_exchange_strong(first, now)) refuse_unless(first, now);
  return now;
}

void check_not_forked() {
  if (const pid_t first = with_threads; first != 0) refuse_unless(first, ::getpid());
}

}  // namespace penstock::detail
