#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace penstock::hdf5 {

/// What is done to a chunk before it is stored, in this order.
struct ChunkForm {
  std::size_t shuffled_element = 0;  ///< bytes of what is shuffled; 0: nothing is
  unsigned deflate = 0;              ///< level; 0: not compressed
  bool fletcher32 = false;
};

/// The opposite of `unshuffle`.
void shuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept;

/// A chunk that is encoded once, by whichever thread claims it first. Owns all it works on.
class ChunkWork {
 public:
  ChunkWork(std::vector<std::byte> chunk, const ChunkForm& form) : chunk_(std::move(chunk)), form_(form) {}

  /// Encodes it here unless somebody else does, or has. False in that case.
  bool claim() noexcept;
  /// Nobody needs it any more: who has not begun never will.
  void give_up() noexcept { claimed_.store(true, std::memory_order_relaxed); }
  /// Somebody has: it is encoded, or has failed.
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Waits for the end, after somebody has claimed it.
  void wait() const noexcept { done_.wait(false, std::memory_order_acquire); }

  // Once it is done.
  /// There was no memory.
  bool failed() const noexcept { return failed_; }
  std::span<const std::byte> stored() const noexcept { return chunk_; }
  /// Bit n: the n-th filter was left out.
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
