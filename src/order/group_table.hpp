// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// The group of each record of a source, as a number. Memory: 16 bytes per run of records, and the names of the groups.
/// Immutable, so any thread may use it.
class GroupTable {
 public:
  /// @throws like for_each_group.
  GroupTable(const SourceModel& source, const std::string& stage);

  std::uint64_t groups() const noexcept { return names_.size(); }
  const std::string& name(std::uint64_t group) const noexcept { return names_[group]; }
  /// Returns a hash of the group's name.
  std::uint64_t name_hash(std::uint64_t group) const noexcept { return name_hashes_[group]; }

  /// Returns a hash of which group each record belongs to.
  std::uint64_t hash() const;

  struct Run {
    std::uint64_t end;  ///< the record after the run's last record
    std::uint64_t group;
  };
  /// Returns the runs in order. The first run begins at record 0. Each later run begins where the run before it ends.
  const std::vector<Run>& runs() const noexcept { return runs_; }
  /// Returns the run that a record is in. REQUIRES: the record exists.
  const Run& run_of(std::uint64_t record) const;
  std::uint64_t group_of(std::uint64_t record) const { return run_of(record).group; }

 private:
  std::vector<Run> runs_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> name_hashes_;
};

/// Makes the table of one source at the first call and keeps it, because reading all keys of a large source takes
/// seconds. Any thread may use it.
class LazyGroupTable {
 public:
  /// Returns the table. `source` must be the same at each call. @throws like for_each_group.
  std::shared_ptr<const GroupTable> of(const SourceModel& source, const std::string& stage);

 private:
  std::mutex mutex_;
  std::shared_ptr<const GroupTable> table_;
};

}  // namespace penstock::detail
