// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// Returns the source's own groups; empty if it has none. @throws Error(invalid_argument) of `stage` if the ends of the
/// groups do not ascend to the source's size; and what the source throws.
std::vector<Group> known_groups(const SourceModel& source, const std::string& stage);

/// Calls `give(name, first record, number of records)` for each run of records of one group, in order. Uses the
/// source's own groups. If the source has none, a record's group is the part of its key before the last '/'.
/// @throws like `known_groups`; and Error(invalid_argument) of `stage` if the source has no groups and no keys, or if a
/// key has no '/'.
void for_each_group(const SourceModel& source, const std::string& stage,
                    const std::function<void(std::string_view name, std::uint64_t first, std::uint64_t records)>& give);

/// Returns the groups of `for_each_group` as a list. @throws like `for_each_group`.
std::vector<Group> groups_of(const SourceModel& source, const std::string& stage);

/// Finds the group of a record. `groups` must outlive this object.
class GroupNameLookup {
 public:
  explicit GroupNameLookup(const std::vector<Group>& groups) : groups_(&groups) {}
  /// Returns the name of a record's group. Fast for consecutive records. REQUIRES: `record` is below the last group's
  /// end.
  const std::string& name_of(std::uint64_t record);

 private:
  const std::vector<Group>* groups_;
  std::size_t last_ = 0;
};

/// Appends a run of records of the group `name`, up to record `end`. If the last run is of the same group, extends it
/// instead.
void append_group(std::vector<Group>& groups, const std::string& name, std::uint64_t end);

}  // namespace penstock::detail
