// SPDX-License-Identifier: Apache-2.0
#include "base/startable_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penstock::detail {

namespace {

// Waits until the kernel has released the joined threads, but at most for a second. Until they are released, they still
// count against the system's limit.
void wait_until_gone(const std::vector<std::atomic<pid_t>>& numbers) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const std::atomic<pid_t>& number : numbers)
    while (number != 0 && ::syscall(SYS_tgkill, ::getpid(), number.load(), 0) == 0 &&
           std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

unsigned startable_threads(unsigned most) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::vector<std::atomic<pid_t>> numbers(most);
  std::vector<std::jthread> threads;
  threads.reserve(most);
  unsigned started = 0;
  try {
    while (started < most) {
      threads.emplace_back([&, &number = numbers[started]] {
        number = static_cast<pid_t>(::syscall(SYS_gettid));
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return over; });
      });
      ++started;
    }
  } catch (const std::exception&) {  // the system allows no more threads, or has no memory for another thread
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  changed.notify_all();
  threads.clear();
  wait_until_gone(numbers);
  return started;
}

}  // namespace penstock::detail
