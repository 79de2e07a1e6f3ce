#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// Whose each record of a source is, in numbers: 16 bytes a run of records, and the names. Immutable; any thread.
class GroupTable {
 public:
  /// @throws as for_each_group.
  GroupTable(const SourceModel& source, const std::string& stage);

  std::uint64_t groups() const noexcept { return names_.size(); }
  const std::string& name(std::uint64_t group) const noexcept { return names_[group]; }
  /// A hash of the group's name.
  std::uint64_t name_hash(std::uint64_t group) const noexcept { return name_hashes_[group]; }

  /// A hash of which group each record belongs to.
  std::uint64_t hash() const;

  struct Run {
    std::uint64_t end;  ///< its last record, and one
    std::uint64_t group;
  };
  /// In order; the first one begins at record 0, each other one where the one before it ends.
  const std::vector<Run>& runs() const noexcept { return runs_; }
  /// The run that a record is in, which must be there.
  const Run& run_of(std::uint64_t record) const;
  std::uint64_t group_of(std::uint64_t record) const { return run_of(record).group; }

 private:
  std::vector<Run> runs_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> name_hashes_;
};

/// The table of one source, made when it is asked for, and kept: to ask for all keys of a large source takes seconds.
/// Any thread.
class KeptGroupTable {
 public:
  /// `source`: always the same one. @throws as for_each_group.
  std::shared_ptr<const GroupTable> of(const SourceModel& source, const std::string& stage);

 private:
  std::mutex mutex_;
  std::shared_ptr<const GroupTable> table_;
};

}  // namespace penstock::detail
