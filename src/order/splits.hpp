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

/// Checks the options. @throws Error(invalid_argument) if a share is negative or not finite, no share is above 0, the
/// part doesn't exist, or a split by key has `stratify`.
void check_split(const SplitOptions& options);
std::string describe_split(const SplitOptions& options);
/// Returns the share that the parts before `part` have together. It is exactly 0 before the first part, and exactly 1
/// after the last part.
double share_before(const SplitOptions& options, std::uint64_t part);
/// Maps a hash to a number that is at least 0 and below 1. The hashed text belongs to the part whose range of shares
/// has this number.
inline double place_of(std::uint64_t hash) noexcept { return static_cast<double>(hash >> 11) * 0x1p-53; }
/// Returns the first position of the part in a permutation of n positions, and the position after its last one.
/// Neighbouring parts round the same share, so one part begins where the other ends.
std::pair<std::uint64_t, std::uint64_t> split_range(const SplitOptions& options, std::uint64_t n);
/// Returns the positions that belong to the part of a stratified split, ascending. `labels`: the label of each
/// position.
std::vector<std::uint64_t> stratified_members(const SplitOptions& options, std::span<const std::int64_t> labels);
/// Returns the indices of the records that belong to the part by their keys' hashes, ascending.
/// @throws Error(invalid_argument) if the source has no keys; and what the source throws.
std::vector<std::uint64_t> split_members(const SplitOptions& options, const SourceModel& source);

/// A part of a split by group.
struct GroupsOfPart {
  Runs records;
  std::uint64_t groups = 0, of = 0;  ///< number of groups in the part, and number of all groups
};
/// Returns the part of a split by group. @throws Error(invalid_argument) if the part has a share above 0 but no group.
GroupsOfPart split_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table);

}  // namespace penstock::detail
