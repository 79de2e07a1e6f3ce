// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Memory for those rows of one batch whose sizes are not known beforehand. Any runner may append rows, and all rows
/// are freed together. After the first few batches, the arena is one block with room for the largest batch so far.
///
/// With a limit, the arena is one block of that size from the first row on. If the system refuses such a block, the
/// arena uses small blocks. Whether a batch exceeds the limit depends only on the batch.
class BatchArena {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  BatchArena(MemoryResource& memory, std::size_t limit) : memory_(&memory), limit_(limit) {}
  BatchArena(const BatchArena&) = delete;
  BatchArena& operator=(const BatchArena&) = delete;
  ~BatchArena();

  /// Returns memory aligned to 64 bytes. Any thread may call it.
  /// @throws Error(out_of_memory) if all rows together exceed the limit; Error(limit_exceeded) if one row is too large
  /// for any memory; or what the resource throws.
  std::byte* append(std::size_t bytes);
  /// Makes all memory free for new rows. REQUIRES: no thread appends.
  void reset() noexcept;
  /// Returns all memory to the resource. REQUIRES: no thread appends.
  void give_back() noexcept;
  /// Returns the largest number of bytes that was in use at a call of `reset`. Any thread may call it.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  struct Block {
    std::byte* data;
    std::size_t bytes;
    // Relaxed is enough, because each addition reserves a piece of its own, whatever the order of the additions.
    // `current_` publishes the block, and the batch's countdown publishes what is written to the piece.
    std::atomic<std::size_t> used{0};
    Block(std::byte* d, std::size_t b) : data(d), bytes(b) {}
  };
  Block* add_block(const Block* full, std::size_t need);
  void free_blocks() noexcept;

  MemoryResource* memory_;
  std::size_t limit_;
  std::atomic<Block*> current_{nullptr};
  std::mutex mutex_;  ///< guards `blocks_` and `capacity_`
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t capacity_ = 0;
  std::atomic<std::size_t> used_{0}, peak_{0};
};

}  // namespace penstock::detail
