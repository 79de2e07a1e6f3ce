#include "planted.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace bottlenecks {

namespace {

double thread_us() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

}  // namespace

void spin_us(double us) noexcept {
  const double end = thread_us() + us;
  while (thread_us() < end) {
    // Asking the clock is a system call on some machines, and would be most of what is measured.
    volatile unsigned sink = 0;
    for (unsigned i = 0; i < 500; ++i) sink = sink + i;
  }
}

void sleep_us(double us) { std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us)); }

Neighbours::Neighbours(unsigned cores) {
  for (unsigned i = 0; i < cores; ++i) {
    const int child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile unsigned sink = 0;;) sink = sink + 1;
    }
    if (child > 0) children_.push_back(child);
  }
}

Neighbours::~Neighbours() {
  for (const int child : children_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace bottlenecks
