// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace penstock::hdf5 {

/// The filters that are applied to a chunk before it is stored, in this order.
struct ChunkForm {
  std::size_t shuffled_element = 0;  ///< bytes per element to shuffle; 0: not shuffled
  unsigned deflate = 0;              ///< level; 0: not compressed
  bool fletcher32 = false;
};

/// Does the opposite of `unshuffle`. `element`: bytes per element.
void shuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept;

/// A chunk that is encoded once, by the thread that claims it first. It owns all its memory.
class ChunkWork {
 public:
  ChunkWork(std::vector<std::byte> chunk, const ChunkForm& form) : chunk_(std::move(chunk)), form_(form) {}

  /// Encodes the chunk on this thread. Returns false, and does nothing, if a thread has already claimed it, or it was
  /// given up.
  bool claim() noexcept;
  /// Gives the chunk up. If no thread has claimed it so far, none will encode it.
  void give_up() noexcept { claimed_.store(true, std::memory_order_relaxed); }
  /// Returns whether the thread that claimed the chunk has finished: the chunk is encoded, or encoding has failed.
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Waits until `done`. REQUIRES: a thread has claimed the chunk.
  void wait() const noexcept { done_.wait(false, std::memory_order_acquire); }

  // Only after `done`:
  /// Returns whether memory ran out.
  bool failed() const noexcept { return failed_; }
  std::span<const std::byte> stored() const noexcept { return chunk_; }
  /// Returns which filters were not applied. Bit n stands for filter n.
  std::uint32_t mask() const noexcept { return mask_; }

 private:
  void encode();

  std::vector<std::byte> chunk_;
  const ChunkForm form_;
  std::uint32_t mask_ = 0;
  bool failed_ = false;
  std::atomic<bool> claimed_{false}, done_{false};
};

}  // namespace penstock::hdf5
