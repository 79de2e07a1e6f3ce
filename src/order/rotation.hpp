// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/order.hpp>
#include <penstock/stages/order.hpp>

#include "order/epoch_tables.hpp"
#include "order/proportions.hpp"

namespace penstock::detail {

/// An order that draws from several sets of records in fixed proportions. All records of a set come once before any
/// record of the set comes again. Each pass through a set has a new permutation. Sets are consecutive ranges of the
/// input, or of `members` if it is not empty. The order depends only on (seed, epoch, position). The stretches that
/// were used last are kept to save time.
class Rotation {
 public:
  struct Options {
    std::string name;
    std::string description;
    std::vector<std::uint64_t> weights;  ///< one weight for each set; Proportions must accept their sum
    std::vector<std::uint64_t> ends;     ///< where each set ends; a set with a weight above 0 must not be empty
    std::vector<std::uint64_t> members = {};
    std::uint64_t count = 0;  ///< draws per epoch, at most 2^62
  };
  explicit Rotation(Options options);
  /// Returns the number of draws per epoch. @throws Error(invalid_argument) if n isn't the total size of the sets.
  std::uint64_t size(std::uint64_t n) const;
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
  std::string name() const { return shared_->options.name; }
  std::string describe() const { return shared_->options.description; }

 private:
  struct Turn {
    std::uint64_t set;
    std::uint64_t ordinal;  ///< number of the draw among all draws from the set
  };
  struct Stretch {
    std::vector<Turn> turns;
    std::size_t bytes() const noexcept { return turns.size() * sizeof(Turn); }
  };
  struct Shared {
    Options options;
    Proportions proportions;
    std::uint64_t stretch;
  };
  Stretch build(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number) const;
  std::size_t fill_stretch(std::uint64_t seed, std::span<OrderPoint> points) const;

  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<EpochTables<Stretch>> stretches_ = std::make_shared<EpochTables<Stretch>>();
};

}  // namespace penstock::detail
