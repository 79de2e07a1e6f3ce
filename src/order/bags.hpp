// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/order.hpp>

#include "order/class_turns.hpp"
#include "order/epoch_tables.hpp"

namespace penstock::detail {

/// The positions of each group, from which bags are drawn. Memory: 16 bytes per run of consecutive positions, and up to
/// 32 bytes per group. Immutable after `finish`.
class GroupedPositions {
 public:
  explicit GroupedPositions(std::uint64_t groups) : groups_(groups) {}
  /// Adds `positions` consecutive positions, from `first` on, to a group. Calls may come in any order.
  void add(std::uint64_t group, std::uint64_t first, std::uint64_t positions);
  /// Sorts the positions by group. Leaves out groups of fewer than `min_size` positions.
  void finish(std::uint64_t min_size);

  std::uint64_t groups() const noexcept { return kept_.size(); }
  /// Returns the number of positions of the group that was added as `number`, even if `finish` left the group out.
  std::uint64_t added(std::uint64_t number) const noexcept { return groups_[number].positions; }
  std::uint64_t size_of(std::uint64_t kept) const noexcept { return groups_[kept_[kept]].positions; }
  /// Returns the number with which a group was added. `kept`: the group's index among the groups that `finish` kept.
  std::uint64_t number_of(std::uint64_t kept) const noexcept { return kept_[kept]; }
  /// Returns the `i`-th position of a group.
  std::uint64_t position(std::uint64_t kept, std::uint64_t i) const;
  std::uint64_t hash() const;

 private:
  struct Run {
    std::uint64_t first;   ///< first position of the run
    std::uint64_t before;  ///< number of the group's positions in earlier runs; until `finish`, the group's number
  };
  struct Positions {
    std::uint64_t first_run = 0, runs = 0, positions = 0;
  };
  std::vector<Run> runs_;
  std::vector<std::uint64_t> lengths_;  // lengths of runs, until `finish`
  std::vector<Positions> groups_;
  std::vector<std::uint64_t> kept_;
};

/// An order that visits groups in a new order in each epoch. At each visit, it draws at most `size` positions of the
/// group. Without classes, it visits each group once in an epoch. With classes, it may visit a group several times.
class Bags {
 public:
  /// The classes of the groups, for an order in which all classes come equally often.
  struct Classes {
    std::string field;                 ///< the field that has the classes
    std::vector<std::int64_t> labels;  ///< `labels[i]` is the class of the group with number i
  };
  /// `keys[i]`: the key of the draws from the group with number i. @throws like `ClassTurns`.
  Bags(GroupedPositions groups, std::vector<std::uint64_t> keys, std::uint64_t size,
       const std::optional<Classes>& classes);

  std::uint64_t size(std::uint64_t) const noexcept { return records_; }
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
  std::string name() const { return "bags"; }
  std::string describe() const;

 private:
  struct Bag {
    std::uint64_t group;
    std::uint64_t before;  ///< number of records in the bags before this bag
    std::uint64_t nth;     ///< number of earlier bags of the group in this epoch
  };
  struct Table {
    std::vector<Bag> bags;
    std::size_t bytes() const noexcept { return bags.size() * sizeof(Bag); }
  };
  Table build(std::uint64_t seed, std::uint64_t epoch) const;
  std::uint64_t records_of(std::uint64_t group) const noexcept;
  ClassTurns turns_of(const Classes& classes) const;

  std::shared_ptr<const GroupedPositions> groups_;
  std::shared_ptr<const std::vector<std::uint64_t>> keys_;
  std::shared_ptr<const ClassTurns> turns_;  // null: each group comes once
  std::string balance_;                      // how classes are balanced, in words
  std::uint64_t size_, records_ = 0;
  std::shared_ptr<EpochTables<Table>> tables_ = std::make_shared<EpochTables<Table>>();
};

}  // namespace penstock::detail
