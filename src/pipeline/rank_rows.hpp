// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <penstock/rank.hpp>

namespace penstock::detail {

struct PipelineData;

struct RowRange {
  std::uint64_t first = 0, count = 0;
};

/// Returns a rank's part of `rows` rows. If they can't be shared evenly, the first ranks have one more.
inline RowRange balanced_share(std::uint64_t rows, const Rank& of) noexcept {
  const auto rank = static_cast<std::uint64_t>(of.rank), world = static_cast<std::uint64_t>(of.world);
  const std::uint64_t each = rows / world, more = rows % world;
  return {rank * each + std::min(rank, more), each + (rank < more ? 1 : 0)};
}

/// Returns the most rows that this rank has of a batch. REQUIRES: the pipeline has `batch`.
std::uint64_t max_rows_of_rank(const PipelineData& data) noexcept;
/// Returns the survivors per bucket window of this rank; 0 without buckets.
std::uint64_t window_rows_of_rank(const PipelineData& data) noexcept;

/// Returns the most rows that one of `devices` devices has of a batch.
inline std::uint64_t max_rows_of_device(std::uint64_t rows, std::size_t devices) noexcept {
  return (rows + devices - 1) / devices;
}

}  // namespace penstock::detail
