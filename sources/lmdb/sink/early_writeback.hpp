// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace penstock::lmdb {

/// While the object exists, a thread repeatedly asks the system to begin writing a file's changes to the disk. LMDB
/// first writes all pages of a transaction and only then syncs them, so without this the disk would be idle at first.
/// There is no guarantee: data that must be on the disk still have to be synced. Works only on Linux.
class EarlyWriteback {
 public:
  /// `descriptor` must stay open as long as the object exists. If no thread can be started, nothing is written early.
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
