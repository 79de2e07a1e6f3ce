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
/// part doesn't exist, `part` and `all_but` are both set, or a split by key has `stratify`.
void check_split(const SplitOptions& options);
std::string describe_split(const SplitOptions& options);
/// Returns the number that `part` or `all_but` has. Default: 0.
inline std::uint64_t named_part(const SplitOptions& options) {
  return options.all_but.value_or(options.part.value_or(0));
}
/// Returns whether the split keeps a record that is in the named part, or one that isn't.
inline bool keeps(const SplitOptions& options, bool in_named_part) {
  return in_named_part != options.all_but.has_value();
}
/// Returns the share of all that is kept.
double kept_share(const SplitOptions& options);
/// Describes what is kept: "part 1", "all but part 1".
std::string kept_parts(const SplitOptions& options);
/// Returns the share that the parts before `part` have together. It is exactly 0 before the first part, and exactly 1
/// after the last part.
double share_before(const SplitOptions& options, std::uint64_t part);
/// Maps a hash to a number that is at least 0 and below 1. The hashed text belongs to the part whose range of shares
/// has this number.
inline double place_of(std::uint64_t hash) noexcept { return static_cast<double>(hash >> 11) * 0x1p-53; }
/// Returns the first position of the named part in a permutation of n positions, and the position after its last one.
/// Neighbouring parts round the same share, so one part begins where the other ends.
std::pair<std::uint64_t, std::uint64_t> split_range(const SplitOptions& options, std::uint64_t n);
/// Returns the positions that a stratified split keeps, ascending. `labels`: the label of each
/// position.
std::vector<std::uint64_t> stratified_members(const SplitOptions& options, std::span<const std::int64_t> labels);
/// Returns the indices of the records that a split by their keys' hashes keeps, ascending.
/// @throws Error(invalid_argument) if the source has no keys; and what the source throws.
std::vector<std::uint64_t> split_members(const SplitOptions& options, const SourceModel& source);

/// What a split by group keeps.
struct KeptGroups {
  Runs records;
  std::uint64_t groups = 0, of = 0;  ///< number of kept groups, and number of all groups
};
/// Returns what a split by group keeps. @throws Error(invalid_argument) if that has a share above 0 but no group.
KeptGroups split_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table);

}  // namespace penstock::detail
