// SPDX-License-Identifier: Apache-2.0
#include "console/on_threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penstock::cli {

void on_threads(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_turns = [&]() noexcept {
    try {
      for (std::size_t i = 0; (i = next.fetch_add(1)) < count;) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned t = 1; t < threads && t < count; ++t) others.emplace_back(take_turns);
    } catch (const std::system_error&) {
    }
    take_turns();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace penstock::cli
