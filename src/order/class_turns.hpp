// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::detail {

/// Decides which group's turn it is if classes of groups take turns: a pure function of seed and epoch. An epoch has
/// one round for each group of the largest class, and each class has one turn in each round. No group has two turns in
/// succession in an epoch.
///
/// In an epoch, the numbers of turns of two groups of a class differ by at most one. So that epochs have the same
/// length, all groups of one size together have the same number of turns in each epoch. The turns that are left over
/// rotate among these groups, continuing from one epoch to the next. Memory: 8 bytes per group, and 24 for each size in
/// a class. Immutable.
class ClassTurns {
 public:
  struct Group {
    std::int64_t label;  ///< its class
    std::uint64_t size;  ///< size of its bag
    std::uint64_t key;   ///< decides which of several sizes has one more turn
  };
  /// @throws Error(invalid_argument) if an epoch has more than `max_turns` turns.
  explicit ClassTurns(std::span<const Group> groups);

  static constexpr std::uint64_t max_turns = std::uint64_t{1} << 27;

  /// Returns the group of each turn of an epoch.
  std::vector<std::uint64_t> of_epoch(std::uint64_t seed, std::uint64_t epoch) const;
  /// Returns a description: "2 classes (of 12, 3 groups), 24 bags an epoch"
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
