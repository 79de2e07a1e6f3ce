// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <penstock/extend/sample.hpp>

#include "chain/chain_run.hpp"
#include "data/scratch.hpp"

namespace penstock::detail::runtime {

/// Finished samples are small if they have fewer bytes than this, together.
inline constexpr std::size_t small_finished_bytes = std::size_t{32} << 20;

/// The final values of a sample, in memory of their own, so that a finished sample stays while its runner makes the
/// next. If making a sample needs more memory than its values, the runner's memory is used. That is the same memory for
/// each sample, so it stays in a cache.
class FinishedCells final : public Cells {
 public:
  struct Bytes {
    std::uint64_t values;  ///< bytes of the sample's values
    std::uint64_t held;    ///< bytes that count while it waits: the values', or all memory that was taken with them
  };
  /// Takes the sample that `run` has made. If this takes the run's memory, `run` gets new memory. @throws
  /// Error(out_of_memory), and what decoding a promised image throws.
  Bytes take(ChainRun& run);
  std::size_t capacity() const noexcept { return arena_ ? arena_->capacity() : 0; }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_->allocate(bytes); }

 private:
  std::size_t bytes_of(std::size_t slot) const;

  std::optional<ScratchArena> arena_;
};

}  // namespace penstock::detail::runtime
