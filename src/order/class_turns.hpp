#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::detail {

/// Which group's turn it is, where classes of groups take turns: a pure function of seed and epoch. An epoch has
/// rounds, as many as the largest class has groups, and each class has one turn in each round. No two turns that
/// follow each other in an epoch are one group's.
///
/// Groups of a class come equally often in an epoch, to one turn. So that epochs have one length, the turns of all
/// groups of one size together are always as many; among themselves those that are left over go round, on from one
/// epoch to the next. Memory: 8 bytes a group, 24 for each size that a class has. Immutable.
class ClassTurns {
 public:
  struct Group {
    std::int64_t label;  ///< its class
    std::uint64_t size;  ///< size of its bag
    std::uint64_t key;   ///< decides which of several sizes has a turn more
  };
  /// @throws Error(invalid_argument) for more than `max_turns` of an epoch.
  explicit ClassTurns(std::span<const Group> groups);

  static constexpr std::uint64_t max_turns = std::uint64_t{1} << 27;

  /// The groups of an epoch's turns.
  std::vector<std::uint64_t> of_epoch(std::uint64_t seed, std::uint64_t epoch) const;
  /// "2 classes (of 12, 3 groups), 24 bags an epoch"
  std::string describe() const;

 private:
  struct Stratum {
    std::uint64_t first, groups;  ///< its groups in `members_`
    std::uint64_t turns = 0;      ///< turns in each epoch
  };
  struct Class {
    std::uint64_t first, strata;  ///< its sizes in `strata_`
    std::uint64_t groups;
  };
  void share_turns(const Class& among, std::span<const Group> groups);
  void fill_class(std::uint64_t number, std::uint64_t seed, std::uint64_t epoch, std::span<std::uint64_t> turns) const;

  std::vector<std::uint64_t> members_;  // groups by class, then by size
  std::vector<Stratum> strata_;
  std::vector<Class> classes_;
  std::uint64_t rounds_ = 0;
};

}  // namespace penstock::detail
