#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// The source's own groups; empty: it knows none. @throws Error(invalid_argument) of `stage` where they are no runs.
std::vector<Group> known_groups(const SourceModel& source, const std::string& stage);

/// Calls `give(name, first record, records)` for each run of records of one group, in order. Groups are the source's
/// own; where it knows of none, a record's is what stands before the last '/' of its key.
/// @throws Error(invalid_argument) of `stage` where the source has no keys, a key has no '/', or its groups are no
/// runs; and what the source throws.
void for_each_group(const SourceModel& source, const std::string& stage,
                    const std::function<void(std::string_view name, std::uint64_t first, std::uint64_t records)>& give);

/// The groups as `for_each_group` gives them, as a list. @throws as that.
std::vector<Group> groups_of(const SourceModel& source, const std::string& stage);

/// Whose each record is. `groups` must outlive it.
class GroupLookup {
 public:
  explicit GroupLookup(const std::vector<Group>& groups) : groups_(&groups) {}
  /// Name of the group of a record, which is below the last end. Quick for records that follow each other.
  const std::string& name_of(std::uint64_t record);

 private:
  const std::vector<Group>* groups_;
  std::size_t last_ = 0;
};

/// Adds a run up to `end`, to the last one where that is the same group's.
void append_group(std::vector<Group>& groups, const std::string& name, std::uint64_t end);

}  // namespace penstock::detail
