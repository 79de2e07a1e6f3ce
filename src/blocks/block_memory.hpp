// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <penstock/memory.hpp>

namespace penstock::detail::runtime {

/// Counts and recycles the memory of blocks that are loaded or being loaded. Most blocks have the same size, so a new
/// block reuses the memory of an old block. `reserve` does not check the limit: call `has_room_for` before.
///
/// Hold the owner's mutex while you call a function, except the constructor, the destructor and `take`.
class BlockMemory {
 public:
  BlockMemory(std::size_t limit_bytes, MemoryResource& resource) : limit_(limit_bytes), resource_(resource) {}
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;
  /// REQUIRES: all blocks were given back.
  ~BlockMemory() { free(spares_); }

  /// Returns the reserved bytes, whether or not their memory was taken.
  std::size_t used() const noexcept { return used_; }
  /// Sets the limit. `bytes` must not be less than the present limit.
  void raise_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  bool has_room_for(std::size_t bytes) const noexcept { return bytes <= limit_ - (used_ < limit_ ? used_ : limit_); }
  /// Counts the bytes of a block that will be loaded. Call before `take`.
  void reserve(std::size_t bytes) noexcept { used_ += bytes; }
  /// Returns memory for a reserved block; null for 0 bytes. `mutex`: the owner's mutex, which the caller must not hold.
  /// Prefers the memory of a block that the same runner used, because that memory is most likely in the cache of the
  /// runner's core. @throws what the resource throws.
  std::byte* take(std::size_t bytes, const void* runner, std::mutex& mutex);
  /// Takes back the memory of a reserved block that `runner` used. `data`: what `take` returned, or null if
  /// `take` failed or was not called.
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
  std::mutex taking_;  // held while memory is taken from the resource; locked before the owner's mutex
  std::size_t used_ = 0;
  Spares spares_;
  std::size_t spare_bytes_ = 0;
};

}  // namespace penstock::detail::runtime
