#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace penstock::lmdb {

/// While it lives, the system is asked again and again to begin writing to the disk what was written to a file. LMDB
/// writes a transaction's pages first and then asks for all of them to be on the disk: the disk would be idle until
/// then. It promises nothing: what must be on the disk is still to be synced. Linux.
class EarlyWriteback {
 public:
  /// `descriptor` must stay open as long as this lives. Where there is no thread to be had, nothing happens early.
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
