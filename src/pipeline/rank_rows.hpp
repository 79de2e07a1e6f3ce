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

/// Returns a rank's part of `rows` rows. If the rows can't be shared evenly, the first ranks have one row more.
inline RowRange balanced_share(std::uint64_t rows, const Rank& of) noexcept {
  const auto rank = static_cast<std::uint64_t>(of.rank), world = static_cast<std::uint64_t>(of.world);
  const std::uint64_t each = rows / world, more = rows % world;
  return {rank * each + std::min(rank, more), each + (rank < more ? 1 : 0)};
}

/// Returns the largest number of rows that this rank has in a batch. REQUIRES: the pipeline has `batch`.
std::uint64_t max_rows_of_rank(const PipelineData& data) noexcept;
/// Returns how many samples of a bucket window are this rank's; 0 without buckets.
std::uint64_t window_rows_of_rank(const PipelineData& data) noexcept;

/// Returns the largest number of a batch's rows that one of `devices` devices gets.
inline std::uint64_t max_rows_of_device(std::uint64_t rows, std::size_t devices) noexcept {
  return (rows + devices - 1) / devices;
}

}  // namespace penstock::detail
