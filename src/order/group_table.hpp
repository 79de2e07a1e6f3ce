#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// Whose each record of a source is, in numbers: 16 bytes a run of records. Immutable; any thread.
class GroupTable {
 public:
  /// @throws as for_each_group.
  GroupTable(const SourceModel& source, const std::string& stage);

  std::uint64_t groups() const noexcept { return name_hashes_.size(); }
  /// A hash of the group's name.
  std::uint64_t name_hash(std::uint64_t group) const noexcept { return name_hashes_[group]; }

  /// Of whose each record is.
  std::uint64_t hash() const;

  struct Run {
    std::uint64_t end;  ///< its last record, and one
    std::uint64_t group;
  };
  /// That the record, which must be there, is in.
  const Run& run_of(std::uint64_t record) const;
  std::uint64_t group_of(std::uint64_t record) const { return run_of(record).group; }

 private:
  std::vector<Run> runs_;
  std::vector<std::uint64_t> name_hashes_;
};

}  // namespace penstock::detail
