// SPDX-License-Identifier: Apache-2.0
#include "source/read_ahead.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <penstock/extend/process_id.hpp>

namespace penstock::hdf5 {

struct ReadAhead::Work {
  const int process = process_id();
  std::mutex mutex;
  std::condition_variable news;
  std::deque<std::uint64_t> blocks;  // announced, and not asked for
  bool stops = false;
  bool rests = false;         // blocks are in the system's memory, so most announcements are left alone
  std::uint64_t quietly = 0;  // announcements since then
  std::thread thread;
};

ReadAhead::~ReadAhead() {
  Work* const work = work_.load();
  // In a child made by fork() there is no such thread, and what it used stays as it was.
  if (work == nullptr || work->process != process_id()) return;
  {
    const std::lock_guard lock(work->mutex);
    work->stops = true;
  }
  work->news.notify_one();
  if (work->thread.joinable()) work->thread.join();
  delete work;
}

void ReadAhead::announce(std::span<const std::uint64_t> blocks) noexcept {
  try {
    Work* work = work_.load();
    if (work == nullptr) {
      auto made = std::make_unique<Work>();
      const std::lock_guard lock(made->mutex);
      if (work_.compare_exchange_strong(work, made.get())) {
        work = made.release();
        work->thread = std::thread([this, work] { this->work(*work); });
      }
    }
    if (work->process != process_id()) return;
    const std::lock_guard lock(work->mutex);
    work->blocks.insert(work->blocks.end(), blocks.begin(), blocks.end());
    if (!work->rests || (++work->quietly & 15) == 0) work->news.notify_one();
  } catch (...) {  // without memory or a thread, nothing is read ahead
  }
}

void ReadAhead::forget(std::span<const std::uint64_t> blocks) noexcept {
  Work* const work = work_.load();
  if (work == nullptr || work->process != process_id()) return;
  const std::lock_guard lock(work->mutex);
  for (const std::uint64_t block : blocks)
    if (const auto at = std::ranges::find(work->blocks, block); at != work->blocks.end()) work->blocks.erase(at);
}

void ReadAhead::work(Work& of) noexcept {
  constexpr unsigned resident_before_rest = 16, rest = 15;
  unsigned resident = 0, skip = 0;
  std::unique_lock lock(of.mutex);
  while (true) {
    of.news.wait(lock, [&] { return of.stops || !of.blocks.empty(); });
    if (of.stops) return;
    const std::uint64_t block = of.blocks.front();
    of.blocks.pop_front();
    if (skip != 0) {
      --skip;
      continue;
    }
    lock.unlock();
    std::uint64_t asked = 0;
    try {
      asked = ask_(block);
    } catch (...) {  // loading the block will report why
    }
    asked_.fetch_add(asked, std::memory_order_relaxed);
    resident = asked != 0 ? 0 : std::min(resident + 1, resident_before_rest);
    skip = resident == resident_before_rest ? rest : 0;
    lock.lock();
    of.rests = skip != 0;
  }
}

}  // namespace penstock::hdf5
