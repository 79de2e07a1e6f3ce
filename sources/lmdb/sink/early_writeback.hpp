// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace penstock::lmdb {

/// While it lives, it repeatedly asks the system to begin writing a file's changes to the disk. LMDB writes all pages
/// of a transaction first and then waits for them to reach the disk, so the disk would be idle before. It guarantees
/// nothing: data that must be on the disk still have to be synced. Linux.
class EarlyWriteback {
 public:
  /// `descriptor` must stay open as long as this lives. If no thread can be started, nothing is written early.
  explicit EarlyWriteback(int descriptor) noexcept;
  EarlyWriteback(const EarlyWriteback&) = delete;
  EarlyWriteback& operator=(const EarlyWriteback&) = delete;
  ~EarlyWriteback();

 private:
  void run(int descriptor) noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace penstock::lmdb
