// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <penstock/extend/memory_ahead.hpp>
#include <penstock/extend/process_id.hpp>
#include <penstock/memory.hpp>

namespace penstock::remote {

/// Memory for ranges. Keeps returned buffers, because the system clears fresh memory before a program gets it. A buffer
/// goes back when its last pointer goes, and keeps the pool alive until then.
///
/// Buffers of ranges that wait for their readers are *held*, up to a limit of bytes. Readers may use further buffers,
/// which others count. Returned buffers are used again, found by their size, because the last range of a file has a
/// size of its own. So all buffers together have about as many bytes as were in use at some time. Any thread.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  using Buffer = std::shared_ptr<std::byte>;

  /// `each`: bytes of most buffers. The limit is that of `most` such buffers.
  BufferPool(std::size_t each, std::size_t most) : most_bytes_(std::uint64_t{each} * most) {}

  /// Whether a buffer may be held, too. A single buffer always may.
  bool has_room_for(std::uint64_t bytes) const noexcept {
    const std::lock_guard lock(mutex_);
    return held_ == 0 || held_ + bytes <= most_bytes_;
  }
  /// Returns a buffer, which is held until `let_go`. @throws std::bad_alloc.
  Buffer hold(std::size_t bytes) {
    std::byte* data = take_spare(bytes);
    if (data == nullptr) data = allocate(bytes);
    try {
      Buffer buffer(data, GiveBack{shared_from_this(), bytes});  // frees the memory if it throws
      const std::lock_guard lock(mutex_);
      held_ += bytes;
      return buffer;
    } catch (...) {
      throw std::bad_alloc();
    }
  }
  /// Raises the limit until the returned pointer goes.
  static MemoryAhead raise(const std::shared_ptr<BufferPool>& pool, std::size_t bytes) {
    if (bytes == 0) return {};
    return {bytes, std::make_shared<const More>(pool, bytes)};
  }
  /// No longer holds a buffer, for which no reader waits.
  void let_go(std::uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    held_ -= bytes;
  }
  /// Frees the buffers that are not in use.
  void trim() noexcept {
    std::vector<Spare> unused;
    {
      const std::lock_guard lock(mutex_);
      unused.swap(spares_);
    }
    for (const Spare& spare : unused) free(spare.data, spare.bytes);
  }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool() { trim(); }

 private:
  struct Spare {
    std::byte* data;
    std::size_t bytes;
  };
  struct GiveBack {
    std::shared_ptr<BufferPool> pool;
    std::size_t bytes;
    void operator()(std::byte* data) const noexcept { pool->give_back(data, bytes); }
  };
  struct More {
    More(std::shared_ptr<BufferPool> its_pool, std::size_t its_bytes)
        : pool(std::move(its_pool)), bytes(its_bytes), process(process_id()) {
      const std::lock_guard lock(pool->mutex_);
      pool->most_bytes_ += bytes;
    }
    More(const More&) = delete;
    More& operator=(const More&) = delete;
    ~More() {
      if (process_id() != process) return;  // another thread of the parent may have held the mutex
      const std::lock_guard lock(pool->mutex_);
      pool->most_bytes_ -= bytes;
    }
    const std::shared_ptr<BufferPool> pool;
    const std::size_t bytes;
    const int process;
  };
  static constexpr std::size_t alignment = 64;
  static std::byte* allocate(std::size_t bytes) {
    try {
      return static_cast<std::byte*>(host_memory().allocate(bytes, alignment));
    } catch (...) {
      throw std::bad_alloc();
    }
  }
  static void free(std::byte* data, std::size_t bytes) noexcept { host_memory().deallocate(data, bytes, alignment); }

  // Returns the newest spare of this size. If there is none, frees the oldest spares of as many bytes together, and
  // returns null.
  std::byte* take_spare(std::size_t bytes) noexcept {
    std::unique_lock lock(mutex_);
    for (std::size_t i = spares_.size(); i-- > 0;)
      if (spares_[i].bytes == bytes) {
        std::byte* const data = spares_[i].data;
        spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(i));
        return data;
      }
    for (std::size_t freed = 0; freed < bytes && !spares_.empty();) {
      const Spare oldest = spares_.front();
      spares_.erase(spares_.begin());
      freed += oldest.bytes;
      lock.unlock();
      free(oldest.data, oldest.bytes);
      lock.lock();
    }
    return nullptr;
  }
  void give_back(std::byte* data, std::size_t bytes) noexcept {
    {
      const std::lock_guard lock(mutex_);
      try {
        return spares_.push_back({data, bytes});
      } catch (...) {  // no memory to keep it
      }
    }
    free(data, bytes);
  }

  mutable std::mutex mutex_;
  std::uint64_t most_bytes_;
  std::uint64_t held_ = 0;
  std::vector<Spare> spares_;  // the oldest first
};

}  // namespace penstock::remote
