// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "store/environment.hpp"

namespace penstock::lmdb {

/// A record that waits to be written.
struct WaitingRecord {
  std::uint64_t index = 0;
  bool replaces = false;  ///< whether it replaces a damaged record
  std::unique_ptr<std::byte[]> data;
  std::size_t bytes = 0;
};

/// Writes records to a cache, on a thread of its own. The thread writes all waiting records in one or a few
/// transactions. Any thread may call the functions.
class CacheWriter {
 public:
  struct Limits {
    std::uint64_t file_bytes;
    std::size_t max_queue_bytes;
  };
  /// The thread calls `committed` with records that were written, and `lost` with records that were not written and may
  /// be offered again. If `committed` throws, nothing more is written. `lost` must not throw.
  using Tell = std::function<void(std::span<const WaitingRecord>)>;
  CacheWriter(std::shared_ptr<Environment> environment, Limits limits, Tell committed, Tell lost);
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;
  /// Writes the waiting records. Does nothing in a child made by fork(), which does not have the thread.
  ~CacheWriter();

  /// Reserves `bytes` bytes of the queue for a record. Returns false if the queue has no room for the record, if
  /// nothing is written any more, or in a child made by fork(). If this returns true, the caller must then call `put`
  /// or `give_up`.
  bool reserve(std::size_t bytes) noexcept;
  void give_up(std::size_t bytes) noexcept { queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Adds a record to the queue. @throws std::bad_alloc, or std::system_error if no thread can be started. In both
  /// cases the reservation stays, and the caller must call `give_up`.
  void put(WaitingRecord record);
  /// Returns why nothing is written any more. Returns an empty text while records are written.
  std::string ended() const;

 private:
  void run() noexcept;
  void write(std::vector<WaitingRecord> records) noexcept;
  bool write_some(std::span<const WaitingRecord> records);
  template <class Say>
  void stop_writing(Say&& why) noexcept;
  std::size_t count_for_one(std::span<const WaitingRecord> records) const;

  std::shared_ptr<Environment> environment_;
  const Limits limits_;
  const std::size_t enough_bytes_;  // a transaction begins if this many bytes wait
  const Tell committed_, lost_;
  std::atomic<std::size_t> queued_bytes_{0};
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WaitingRecord> queue_;
  std::size_t waiting_bytes_ = 0;  // bytes of the records in `queue_`
  bool stop_ = false;
  std::string why_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace penstock::lmdb
