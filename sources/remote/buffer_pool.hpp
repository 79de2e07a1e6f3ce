// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace penstock::remote {

/// Lends memory for ranges. Keeps returned buffers, because the system clears fresh memory before a program gets it. A
/// buffer goes back when its last pointer goes, and keeps the pool alive until then. Any thread.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  using Buffer = std::shared_ptr<std::byte>;

  /// `each`: bytes of most buffers. Up to `most` such buffers are kept for later.
  BufferPool(std::size_t each, std::size_t most) : each_(each), most_(most) { spares_.reserve(most); }

  /// @throws std::bad_alloc.
  Buffer take(std::size_t bytes) {
    std::unique_ptr<std::byte[]> memory;
    if (bytes == each_) {
      const std::lock_guard lock(mutex_);
      if (!spares_.empty()) {
        memory = std::move(spares_.back());
        spares_.pop_back();
      }
    }
    // Not initialised, as all bytes are overwritten.
    if (memory == nullptr) memory.reset(new std::byte[bytes]);
    std::byte* const data = memory.get();
    Buffer buffer(data, GiveBack{shared_from_this(), bytes});
    static_cast<void>(memory.release());
    return buffer;
  }

 private:
  struct GiveBack {
    std::shared_ptr<BufferPool> pool;
    std::size_t bytes;
    void operator()(std::byte* data) const noexcept { pool->give_back(std::unique_ptr<std::byte[]>(data), bytes); }
  };
  void give_back(std::unique_ptr<std::byte[]> memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (bytes == each_ && spares_.size() < most_) spares_.push_back(std::move(memory));  // there is room for it
  }

  const std::size_t each_, most_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte[]>> spares_;
};

}  // namespace penstock::remote
