// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/stages/order.hpp>

#include "order/epoch_tables.hpp"

namespace penstock::detail {

/// The blocks of a source: runs of consecutive records. Their ends are given, or all blocks except the last have the
/// same size. Immutable.
class Blocks {
 public:
  /// Makes blocks of `block_size` records. If `block_size` is 0, takes the source's own blocks.
  /// @throws Error(invalid_argument) if there are too many blocks. If `block_size` is 0, also if the source has no
  /// blocks, or if their ends are invalid.
  Blocks(const SourceModel& source, std::uint64_t block_size);
  /// Writes to `records` the source's records at `position` and the positions after it.
  using RecordsAt = std::function<void(std::uint64_t position, std::span<std::uint64_t> records)>;
  /// Returns a number, at least 1. That many positions, from `position` on, have consecutive records.
  using RunAt = std::function<std::uint64_t(std::uint64_t position)>;
  /// Returns the blocks as ranges of positions in the result of the orders before the shuffle. These orders must be the
  /// same in each epoch. `positions`: size of the result. `records_at` and `run_at` describe the records at positions
  /// of the result. `last_order` is the order that the error message names.
  /// @throws Error(invalid_argument) if the records of a block are not neighbours in the result.
  Blocks after(std::uint64_t positions, const RecordsAt& records_at, const RunAt& run_at, const SourceModel& source,
               const std::string& last_order) const;

  /// Calls f(first record, number of records) for each block that has records, in order.
  template <class F>
  void for_each(F f) const {
    std::uint64_t first = 0;
    if (each_ != 0) {
      for (; first < records_; first += each_) f(first, records_ - first < each_ ? records_ - first : each_);
      return;
    }
    for (const std::uint64_t end : ends_) {
      if (end != first) f(first, end - first);
      first = end;
    }
  }
  std::uint64_t count() const noexcept { return count_; }  ///< number of blocks that have records
  std::string describe() const;

 private:
  Blocks() = default;
  std::pair<std::uint64_t, std::uint64_t> range_around(std::uint64_t record) const;

  std::uint64_t records_ = 0, each_ = 0, count_ = 0;
  std::vector<std::uint64_t> ends_;
};

/// An order that permutes blocks, cuts them into windows and permutes the records of each window. For several ranks,
/// this order is cut into one stretch per rank. The stretches take turns: each turn gives the rows that one rank has in
/// a batch.
class BlockShuffle {
 public:
  BlockShuffle(Blocks blocks, std::uint64_t window, std::uint64_t ranks);
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
  std::string name() const { return "shuffle"; }
  std::string describe() const;
  /// Returns this order for batches of `rows` rows. `rows` is 0 if the rows per batch are not known beforehand.
  /// @throws Error(invalid_argument) if there are several ranks, and `rows` is 0 or not a multiple of the number of
  /// ranks.
  BlockShuffle for_batches(std::uint64_t rows) const;

 private:
  struct Block {
    std::uint64_t first;   ///< first record of the block in the source
    std::uint64_t before;  ///< number of records in the blocks that come before this block in this epoch
  };
  struct Table {
    std::vector<Block> blocks;
    std::size_t bytes() const noexcept { return blocks.size() * sizeof(Block); }
  };
  Table build(std::uint64_t epoch_seed) const;
  std::size_t fill_window(const Table& table, std::uint64_t epoch_seed, std::uint64_t n,
                          std::span<OrderPoint> points) const;

  std::uint64_t position_without_ranks(std::uint64_t position, std::uint64_t n) const noexcept;

  std::shared_ptr<const Blocks> blocks_;
  std::uint64_t window_, ranks_, batch_rows_ = 0;
  std::shared_ptr<EpochTables<Table>> tables_ = std::make_shared<EpochTables<Table>>();
};

}  // namespace penstock::detail
