// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock::detail {

/// Memory for what one sample needs while it is made. Pieces are handed out one after the other, and freed all
/// together. After the first few samples, the arena is one block with room for the largest sample so far. It allocates
/// again only for a larger sample. One thread at a time uses it.
///
/// With a limit, the arena is one block of that size from the first piece on. The system provides only the pages that
/// are touched. So whether a sample fits does not depend on how earlier samples divided the memory. If the system
/// refuses such a block, the arena uses small blocks.
class ScratchArena final : public Scratch {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// `min_block`: the least number of bytes to allocate at a time.
  explicit ScratchArena(std::size_t limit = no_limit, std::size_t min_block = 64 << 10)
      : limit_(limit), min_block_(min_block) {}
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;
  ~ScratchArena() override;

  std::byte* allocate(std::size_t bytes) override;
  void give_back(std::byte* piece) noexcept override;
  /// Frees everything that was handed out so far.
  void reset();

  struct Mark {
    std::size_t block, used;
  };
  Mark mark() const noexcept { return {current_, used_}; }
  /// Frees what was handed out since `mark`.
  void rewind(Mark mark) noexcept;

  /// Sets the least size of the blocks that are allocated after this call.
  void set_min_block(std::size_t bytes) noexcept { min_block_ = bytes; }
  /// Exchanges all blocks and their contents with another arena. Each arena keeps its limit.
  void swap_memory(ScratchArena& other) noexcept;
  /// Returns whether `data` is in memory of this arena.
  bool holds(const std::byte* data) const noexcept;

  std::size_t capacity() const noexcept { return capacity_; }
  /// Returns the largest number of bytes that was in use at a time.
  std::size_t peak() const noexcept { return peak_; }

 private:
  struct Block {
    std::byte* data;
    std::size_t bytes;
  };
  void add_block(std::size_t bytes);
  void reserve_limit();
  std::size_t in_use() const noexcept;
  void free_blocks() noexcept;

  std::vector<Block> blocks_;
  std::byte* last_ = nullptr;  // the piece that was handed out last; null after anything else
  Mark before_last_{};         // the mark before that
  std::size_t current_ = 0, used_ = 0, capacity_ = 0, peak_ = 0, limit_, min_block_;
};

}  // namespace penstock::detail
