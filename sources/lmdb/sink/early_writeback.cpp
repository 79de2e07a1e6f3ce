// SPDX-License-Identifier: Apache-2.0
#include "sink/early_writeback.hpp"

#include <fcntl.h>

#include <chrono>

#include "common/block_signals.hpp"

namespace penstock::lmdb {

EarlyWriteback::EarlyWriteback(int descriptor) noexcept {
  try {
    thread_ = std::thread([this, descriptor] { run(descriptor); });
  } catch (...) {  // no thread, or no memory for it
  }
}

EarlyWriteback::~EarlyWriteback() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void EarlyWriteback::run(int descriptor) noexcept {
  common::block_signals();
  // About as long as a fast disk needs for what is written to memory during that time.
  constexpr std::chrono::microseconds pause{100};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return over_; })) {
    lock.unlock();
    // Where the file system can't, there is nothing lost.
    (void)::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
    lock.lock();
  }
}

}  // namespace penstock::lmdb
