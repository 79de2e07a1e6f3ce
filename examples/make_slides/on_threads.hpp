// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

namespace make_slides {

/// Calls `work(thread, i)` once for each i below `count`, on `threads` threads, which are numbered from 0. Rethrows
/// what `work` throws.
template <class Work>
void on_threads(unsigned threads, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::future<void>> running;
  for (unsigned thread = 0; thread < std::min<std::size_t>(threads, count); ++thread)
    running.push_back(std::async(std::launch::async, [&, thread] {
      for (std::size_t i = 0; (i = next.fetch_add(1)) < count;) work(thread, i);
    }));
  for (std::future<void>& one : running) one.get();
}

}  // namespace make_slides
