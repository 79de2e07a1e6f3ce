// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "common/block_signals.hpp"

namespace penstock::common {

/// Calls `work(i)` for each i below `count`, on `threads` threads, including the calling thread. `threads` 0: as many
/// as the machine has cores, at most 16. If the system starts fewer threads, these do all the work. If one call throws,
/// no further calls begin. After all calls have ended, the exception of the lowest i is thrown to the caller.
template <class Work>
void for_each_on_threads(std::size_t count, unsigned threads, const Work& work) {
  constexpr unsigned most_by_itself = 16;
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1u, most_by_itself);
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  // Calls are taken in the order of i, and a call that was taken always begins. So when call i fails, all calls with
  // lower numbers still run to their ends. The lowest i whose call fails is thus the same in every run.
  const auto take_turns = [&]() noexcept {
    for (std::size_t i = 0; !failed && (i = next.fetch_add(1)) < count;) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      while (helpers.size() + 1 < std::min<std::size_t>(threads, count))
        helpers.emplace_back([&]() noexcept {
          block_signals();
          take_turns();
        });
    } catch (const std::system_error&) {
    }
    take_turns();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace penstock::common
