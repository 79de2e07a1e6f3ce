// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::detail {

/// Lets classes of groups take turns, and decides which group of the class has each turn. The result depends only on
/// seed and epoch. An epoch has one round for each group of the largest class, and each class has one turn in each
/// round. No group has two turns in succession in an epoch.
///
/// In an epoch, the numbers of turns of two groups of a class differ by at most one. Together, the groups of one size
/// in a class have the same number of turns in each epoch, so that all epochs have the same length. Turns that can't be
/// shared evenly rotate among these groups from one epoch to the next. Memory: 8 bytes per group, 24 bytes per class,
/// and 24 bytes for each size in a class. Immutable.
class ClassTurns {
 public:
  struct Group {
    std::int64_t label;  ///< class of the group
    std::uint64_t size;  ///< size of the group's bag
    /// Breaks ties. The groups of one size in a class are a stratum. If sharing a class's turns leaves two strata with
    /// equal remainders, the stratum whose first group has the smaller key is served first.
    std::uint64_t key;
  };
  /// @throws Error(invalid_argument) if an epoch has more than `max_turns` turns.
  explicit ClassTurns(std::span<const Group> groups);

  static constexpr std::uint64_t max_turns = std::uint64_t{1} << 27;

  /// Returns the group of each turn of an epoch.
  std::vector<std::uint64_t> of_epoch(std::uint64_t seed, std::uint64_t epoch) const;
  /// Returns a description, such as "2 classes (of 12, 3 groups), 24 bags an epoch".
  std::string describe() const;

 private:
  struct Stratum {
    std::uint64_t first, groups;  ///< the groups of one size of a class, as a range of `members_`
    std::uint64_t turns = 0;      ///< turns in each epoch
  };
  struct Class {
    std::uint64_t first, strata;  ///< the sizes of the class, as a range of `strata_`
    std::uint64_t groups;
  };
  void share_turns(const Class& among, std::span<const Group> groups);
  void fill_class(std::uint64_t number, std::uint64_t seed, std::uint64_t epoch, std::span<std::uint64_t> turns) const;

  std::vector<std::uint64_t> members_;  // groups, sorted by class, then by size
  std::vector<Stratum> strata_;
  std::vector<Class> classes_;
  std::uint64_t rounds_ = 0;
};

}  // namespace penstock::detail
