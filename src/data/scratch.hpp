#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock::detail {

/// Memory for what one sample needs on its way: handed out from the front, taken back all at once. After the first few
/// samples it is one block as large as the largest of them needed, and nothing is allocated any more. One thread at a
/// time.
///
/// With a limit it is one block of that size from the beginning, of which the system provides what is touched: whether
/// a sample fits must not depend on how those before it cut the memory up.
class ScratchArena final : public Scratch {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// `min_block`: bytes that are allocated at least.
  explicit ScratchArena(std::size_t limit = no_limit, std::size_t min_block = 64 << 10)
      : limit_(limit), min_block_(min_block) {}
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;
  ~ScratchArena() override;

  std::byte* allocate(std::size_t bytes) override;
  /// Everything handed out so far is free again.
  void reset();

  struct Mark {
    std::size_t block, used;
  };
  Mark mark() const noexcept { return {current_, used_}; }
  /// What was handed out since is free again.
  void rewind(Mark mark) noexcept;

  /// From now on at least `bytes` bytes are allocated at a time.
  void set_min_block(std::size_t bytes) noexcept { min_block_ = bytes; }
  /// Exchanges memory with another arena, with what lies in it. Limits stay.
  void swap_memory(ScratchArena& other) noexcept;
  /// Whether it lies in memory of this arena.
  bool holds(const std::byte* data) const noexcept;

  std::size_t capacity() const noexcept { return capacity_; }
  /// The most that was in use at once.
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
  std::size_t current_ = 0, used_ = 0, capacity_ = 0, peak_ = 0, limit_, min_block_;
};

}  // namespace penstock::detail
