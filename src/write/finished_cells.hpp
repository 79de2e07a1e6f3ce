#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <penstock/extend/sample.hpp>

#include "chain/chain_run.hpp"
#include "data/scratch.hpp"

namespace penstock::detail::runtime {

/// Finished samples are small, together, below so many bytes.
inline constexpr std::size_t small_finished_bytes = std::size_t{32} << 20;

/// What a sample has in the end, in memory of its own: a finished one stays while its runner goes on. Where a sample
/// needs more memory than it leaves values, that is the runner's, the same for each sample, and so in a cache.
class FinishedCells final : public Cells {
 public:
  struct Bytes {
    std::uint64_t values;  ///< bytes of the sample's values
    std::uint64_t held;    ///< bytes that count while it waits: the values', or all memory that was taken with them
  };
  /// What `run` has made; it gets other memory where this takes its own. @throws Error(out_of_memory), and what
  /// decoding a promised image throws.
  Bytes take(ChainRun& run);
  std::size_t capacity() const noexcept { return arena_ ? arena_->capacity() : 0; }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_->allocate(bytes); }

 private:
  std::size_t bytes_of(std::size_t slot) const;

  std::optional<ScratchArena> arena_;
};

}  // namespace penstock::detail::runtime
