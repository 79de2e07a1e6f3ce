#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <penstock/memory.hpp>

namespace penstock::detail::runtime {

/// Counts and recycles the memory of blocks that are loaded, or are being loaded. Blocks are mostly of one size: what
/// one of them leaves is there for the next. It refuses nothing: ask `has_room_for` before `reserve`.
///
/// Everything but the constructor, the destructor and `take` is called with the owner's mutex held.
class BlockMemory {
 public:
  BlockMemory(std::size_t limit_bytes, MemoryResource& resource) : limit_(limit_bytes), resource_(resource) {}
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;
  /// All blocks were given back.
  ~BlockMemory() { free(spares_); }

  /// Bytes that are reserved, whether their memory is taken or not.
  std::size_t used() const noexcept { return used_; }
  /// No fewer than before.
  void raise_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  bool has_room_for(std::size_t bytes) const noexcept { return bytes <= limit_ - (used_ < limit_ ? used_ : limit_); }
  /// Counts a block that will be loaded, before its memory is taken.
  void reserve(std::size_t bytes) noexcept { used_ += bytes; }
  /// For a block that is reserved; `mutex` is the owner's, not held. Null for no bytes. Of memory that blocks
  /// left, what had one of the same runner comes first, as the likeliest to be in its core's cache.
  /// @throws what the resource throws.
  std::byte* take(std::size_t bytes, const void* runner, std::mutex& mutex);
  /// A reserved block that this runner used is let go. `data`: null where its memory could not be taken.
  void give_back(std::byte* data, std::size_t bytes, const void* runner) noexcept;

 private:
  struct Spare {
    std::byte* data;
    std::size_t bytes;
    const void* runner;
  };
  using Spares = std::vector<Spare>;

  std::byte* reuse(std::size_t bytes, const void* runner) noexcept;
  Spares take_spares_if_above(std::size_t bytes) noexcept;
  void free(const Spares& spares) noexcept;

  std::size_t limit_;
  MemoryResource& resource_;
  std::mutex taking_;  // while memory is taken from the resource; locked before the owner's
  std::size_t used_ = 0;
  Spares spares_;
  std::size_t spare_bytes_ = 0;
};

}  // namespace penstock::detail::runtime
