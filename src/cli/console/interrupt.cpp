// SPDX-License-Identifier: Apache-2.0
#include "console/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>
#include <system_error>

namespace penstock::cli {

namespace {
sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}
}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  try {
    thread_ = std::jthread([this](const std::stop_token& ended) { watch(ended); });
  } catch (const std::system_error&) {  // if no more threads can be started, signals end the process as usual
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

Interrupt::~Interrupt() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interrupt::watch(const std::stop_token& ended) {
  const sigset_t set = watched();
  while (!ended.stop_requested()) {
    const timespec moment{0, 50'000'000};
    const int number = ::sigtimedwait(&set, nullptr, &moment);
    if (number < 0) continue;
    if (signal_.exchange(number) != 0) {
      ::signal(number, SIG_DFL);
      ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      ::raise(number);
    }
    source_.request_stop();
  }
}

}  // namespace penstock::cli
