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

/// Consecutive records that belong together: of given ends, or all of one size but for the last. Immutable.
class Blocks {
 public:
  /// Those of the source, or of `block_size` records where that isn't 0. @throws Error(invalid_argument) where the
  /// source has none, or gives ends that are none, or where there are too many.
  Blocks(const SourceModel& source, std::uint64_t block_size);
  /// Writes the records that stand at `position` and after it.
  using RecordsAt = std::function<void(std::uint64_t position, std::span<std::uint64_t> records)>;
  /// How many records from `position` on follow each other.
  using RunAt = std::function<std::uint64_t(std::uint64_t position)>;
  /// What is left of them after orders that are fixed, as positions of those. `last_order` is for the message.
  /// @throws Error(invalid_argument) where the orders tear a block apart.
  Blocks after(std::uint64_t positions, const RecordsAt& records_at, const RunAt& run_at, const SourceModel& source,
               const std::string& last_order) const;

  /// Calls f(first record, records) for each block that has any, in order.
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
  std::uint64_t count() const noexcept { return count_; }  ///< how many blocks have records
  std::string describe() const;

 private:
  Blocks() = default;
  std::pair<std::uint64_t, std::uint64_t> range_around(std::uint64_t record) const;

  std::uint64_t records_ = 0, each_ = 0, count_ = 0;
  std::vector<std::uint64_t> ends_;
};

/// An order that permutes blocks, cuts them into windows and permutes the records of each window. For several ranks,
/// that order is cut into as many stretches, whose records take turns: as many of each as a rank has of a batch.
class BlockShuffle {
 public:
  BlockShuffle(Blocks blocks, std::uint64_t window, std::uint64_t ranks);
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
  std::string name() const { return "shuffle"; }
  std::string describe() const;
  /// @throws Error(invalid_argument) where batches of so many rows can't be shared out evenly to the ranks.
  BlockShuffle for_batches(std::uint64_t rows) const;

 private:
  struct Block {
    std::uint64_t first;   ///< its first record in the source
    std::uint64_t before;  ///< records of the blocks that stand before it in this epoch
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
