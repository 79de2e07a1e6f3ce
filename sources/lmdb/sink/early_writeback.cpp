// SPDX-License-Identifier: Apache-2.0
#include "sink/early_writeback.hpp"

#include <fcntl.h>

#include <chrono>

#include "common/block_signals.hpp"

namespace penstock::lmdb {

EarlyWriteback::EarlyWriteback(int descriptor) noexcept {
  try {
    thread_ = std::thread([this, descriptor] { run(descriptor); });
  } catch (...) {  // the thread, or memory for it, is not available
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
  // During one pause, LMDB writes about as many bytes to memory as a fast disk can write in that time.
  constexpr std::chrono::microseconds pause{100};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return over_; })) {
    lock.unlock();
    // If the file system can't begin to write early, nothing is lost.
    (void)::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
    lock.lock();
  }
}

}  // namespace penstock::lmdb
