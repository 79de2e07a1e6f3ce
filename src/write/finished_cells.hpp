// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <penstock/extend/sample.hpp>

#include "chain/chain_run.hpp"
#include "data/scratch.hpp"

namespace penstock::detail::runtime {

/// Limit in bytes below which all finished samples together count as small.
inline constexpr std::size_t small_finished_bytes = std::size_t{32} << 20;

/// Keeps a finished sample's values while its runner makes the next sample. Takes the runner's scratch if the values
/// have at least 4,096 bytes, and more than half as many bytes as the scratch. Then only values outside the scratch are
/// copied. If the scratch is not taken, all values are copied. The runner then uses the scratch for the next sample, so
/// it stays in the core's cache.
class FinishedCells final : public Cells {
 public:
  struct Bytes {
    std::uint64_t values;  ///< bytes of the sample's values
    /// Bytes that count while the sample waits: the bytes of its values, or of the memory that was taken.
    std::uint64_t held;
  };
  /// Takes the sample that `run` has made. If this call takes the scratch of `run`, `run` gets this object's memory
  /// instead. @throws Error(out_of_memory), and whatever decoding a promised image throws.
  Bytes take(ChainRun& run);
  std::size_t capacity() const noexcept { return arena_ ? arena_->capacity() : 0; }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_->allocate(bytes); }

 private:
  std::size_t bytes_of(std::size_t slot) const;

  std::optional<ScratchArena> arena_;
};

}  // namespace penstock::detail::runtime
