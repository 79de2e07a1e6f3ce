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

/// What a rank has of `rows` rows: the first ones have one more where they don't come out even.
inline RowRange balanced_share(std::uint64_t rows, const Rank& of) noexcept {
  const auto rank = static_cast<std::uint64_t>(of.rank), world = static_cast<std::uint64_t>(of.world);
  const std::uint64_t each = rows / world, more = rows % world;
  return {rank * each + std::min(rank, more), each + (rank < more ? 1 : 0)};
}

/// The most rows of a batch that this rank has. With `batch`.
std::uint64_t max_rows_of_rank(const PipelineData& data) noexcept;
/// Survivors that this rank puts together by length; 0 without buckets.
std::uint64_t window_rows_of_rank(const PipelineData& data) noexcept;

/// The most that any of so many devices has of a batch.
inline std::uint64_t max_rows_of_device(std::uint64_t rows, std::size_t devices) noexcept {
  return (rows + devices - 1) / devices;
}

}  // namespace penstock::detail
