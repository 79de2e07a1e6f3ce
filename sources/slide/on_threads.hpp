#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock::slide {

/// Calls `work(i)` for each i below `count`, on as many threads as there are cores, this one among them. @throws the
/// first of what they throw, when all have ended.
template <class Work>
void for_each_on_threads(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const std::size_t threads = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), count);
  try {
    others.reserve(threads);
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run);
  } catch (const std::exception&) {  // then there are fewer
  }
  run();
  for (std::thread& other : others) other.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace penstock::slide
