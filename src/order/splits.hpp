// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/stages/order.hpp>

#include "order/group_table.hpp"
#include "order/runs.hpp"

namespace penstock::detail {

/// Checks the options. @throws Error(invalid_argument) if a share is not a valid size, or if the part doesn't exist.
void check_split(const SplitOptions& options);
std::string describe_split(const SplitOptions& options);
/// Returns the share of the parts before `part`; exactly 0 and 1 at the ends.
double share_before(const SplitOptions& options, std::uint64_t part);
/// Maps a hash to a number from 0 to below 1, which falls into a part.
inline double place_of(std::uint64_t hash) noexcept { return static_cast<double>(hash >> 11) * 0x1p-53; }
/// Returns the first and the past-the-last position of the part in a permutation of n. Cumulative shares are rounded
/// once, so that parts meet.
std::pair<std::uint64_t, std::uint64_t> split_range(const SplitOptions& options, std::uint64_t n);
/// Returns the positions of the part of a stratified split, ascending. `labels`: the labels of all positions.
std::vector<std::uint64_t> stratified_members(const SplitOptions& options, std::span<const std::int64_t> labels);
/// Returns the source indices whose keys hash into the part, ascending.
std::vector<std::uint64_t> split_members(const SplitOptions& options, const SourceModel& source);

/// A part of a split by group.
struct GroupsOfPart {
  Runs records;
  std::uint64_t groups = 0, of = 0;  ///< number of its groups, and of all groups
};
/// Returns the part of a split by group. @throws Error(invalid_argument) if it has a share but no group.
GroupsOfPart split_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table);

}  // namespace penstock::detail
