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
  bool replaces = false;  ///< one that is damaged
  std::unique_ptr<std::byte[]> data;
  std::size_t bytes = 0;
};

/// The thread that writes records to a cache, all that wait at a time, each time in one transaction or a few. Any
/// thread.
class CacheWriter {
 public:
  struct Limits {
    std::uint64_t file_bytes;
    std::size_t max_queue_bytes;
  };
  /// `committed` is told which records are there, `lost` which are not and may be offered again, both by the thread.
  /// Where `committed` throws, nothing is written any more. `lost` doesn't throw.
  using Tell = std::function<void(std::span<const WaitingRecord>)>;
  CacheWriter(std::shared_ptr<Environment> environment, Limits limits, Tell committed, Tell lost);
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;
  /// Writes what waits. In a child made by fork() the thread is not there, and nothing is done.
  ~CacheWriter();

  /// Whether a record of so many bytes may wait; then it must be put, or given up.
  bool reserve(std::size_t bytes) noexcept;
  void give_up(std::size_t bytes) noexcept { queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// @throws std::bad_alloc, or std::system_error where no thread can be started: the reservation stands then.
  void put(WaitingRecord record);
  /// Why nothing is written any more; empty while it is.
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
  const std::size_t enough_bytes_;  // bytes that are enough to begin a transaction
  const Tell committed_, lost_;
  std::atomic<std::size_t> queued_bytes_{0};
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WaitingRecord> queue_;
  std::size_t waiting_bytes_ = 0;  // bytes of the queue
  bool stop_ = false;
  std::string why_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace penstock::lmdb
