// SPDX-License-Identifier: Apache-2.0
#include "order/block_shuffle.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "order/bijection.hpp"

namespace penstock::detail {

namespace {

constexpr std::uint64_t max_blocks = std::uint64_t{1} << 27;  // a table of 2 GiB

Error refused(const SourceModel& source, std::string cause) {
  return Error(Errc::invalid_argument, std::move(cause)).with_stage("shuffle").with_source(source.name());
}

std::vector<std::uint64_t> ends_of(const SourceModel& source, std::uint64_t records) {
  std::vector<std::uint64_t> ends;
  try {
    ends = source.block_ends();
  } catch (...) {
    throw current_error().with_stage("shuffle").with_source(source.name());
  }
  if (ends.empty() && records != 0)
    throw refused(source,
                  "the source has no blocks of its own; say how many consecutive records make one with "
                  "`.block_size`");
  if (!std::ranges::is_sorted(ends) || (!ends.empty() && ends.back() != records))
    throw refused(source, "the source's `block_ends` must ascend to its size, " + std::to_string(records));
  return ends;
}

}  // namespace

Blocks::Blocks(const SourceModel& source, std::uint64_t block_size) : records_(source.size()), each_(block_size) {
  if (each_ != 0) {
    count_ = records_ / each_ + (records_ % each_ != 0 ? 1 : 0);
  } else {
    ends_ = ends_of(source, records_);
    for_each([this](std::uint64_t, std::uint64_t) { ++count_; });
  }
  if (count_ > max_blocks)
    throw refused(source, std::to_string(count_) + " blocks are more than the " + std::to_string(max_blocks) +
                              " a table is made for; say a larger `.block_size`");
}

std::pair<std::uint64_t, std::uint64_t> Blocks::range_around(std::uint64_t record) const {
  if (each_ != 0) return {record - record % each_, record - record % each_ + each_};
  const auto end = std::ranges::upper_bound(ends_, record);
  return {end == ends_.begin() ? 0 : *(end - 1), *end};
}

Blocks Blocks::after(std::uint64_t positions, const RecordsAt& records_at, const RunAt& run_at,
                     const SourceModel& source, const std::string& last_order) const {
  Blocks left;
  left.records_ = positions;
  std::array<std::uint64_t, 256> records;
  std::pair<std::uint64_t, std::uint64_t> range{};
  std::unordered_set<std::uint64_t> begun;
  const auto visit = [&](std::uint64_t position, std::uint64_t record) {
    if (record >= range.first && record < range.second) return;
    range = range_around(record);
    if (position != 0) left.ends_.push_back(position);
    if (!begun.insert(range.first).second)
      throw refused(source, "after \"" + last_order +
                                "\" records of one block are no neighbours; split by key or group, take and skip "
                                "leave blocks together, other orders stand after the shuffle");
  };
  for (std::uint64_t done = 0; done < positions;) {
    const std::uint64_t n = std::min<std::uint64_t>(records.size(), positions - done);
    if (const std::uint64_t run = run_at(done); run > n) {
      // In a run of consecutive records, visits only the first record of each block.
      records_at(done, {records.data(), 1});
      for (std::uint64_t record = records[0], end = record + run; record < end;) {
        visit(done, record);
        const std::uint64_t next = std::min(end, range.second);
        done += next - record;
        record = next;
      }
      continue;
    }
    records_at(done, {records.data(), n});
    for (std::uint64_t i = 0; i < n; ++i) visit(done + i, records[i]);
    done += n;
  }
  if (positions != 0) left.ends_.push_back(positions);
  left.count_ = left.ends_.size();
  return left;
}

std::string Blocks::describe() const {
  if (each_ != 0) return "in blocks of " + std::to_string(each_);
  return "in " + std::to_string(count_) + " blocks of the source, hash " +
         std::to_string(hash_bytes(ends_.data(), ends_.size() * sizeof(std::uint64_t)));
}

BlockShuffle::BlockShuffle(Blocks blocks, std::uint64_t window, std::uint64_t ranks)
    : blocks_(std::make_shared<const Blocks>(std::move(blocks))), window_(window), ranks_(ranks) {}

std::string BlockShuffle::describe() const {
  return blocks_->describe() + ", window " + std::to_string(window_) +
         (ranks_ == 1 ? "" : ", " + std::to_string(ranks_) + " ranks");
}

BlockShuffle BlockShuffle::for_batches(std::uint64_t rows) const {
  if (ranks_ != 1 && (rows == 0 || rows % ranks_ != 0))
    throw Error(Errc::invalid_argument,
                rows == 0 ? "`.ranks` needs batches whose rows are known before; leave it out"
                          : "batches of " + std::to_string(rows) + " rows can't be shared out evenly to " +
                                std::to_string(ranks_) + " ranks; make the rows a multiple of that")
        .with_stage("shuffle");
  BlockShuffle bound = *this;
  bound.batch_rows_ = rows;
  return bound;
}

// Converts a position in the order for several ranks to the same record's position in the order for one rank.
std::uint64_t BlockShuffle::position_without_ranks(std::uint64_t position, std::uint64_t n) const noexcept {
  const std::uint64_t batches = n / batch_rows_;
  if (position >= batches * batch_rows_) return position;
  const std::uint64_t rows = batch_rows_ / ranks_, batch = position / batch_rows_, row = position % batch_rows_;
  return row / rows * (batches * rows) + batch * rows + row % rows;
}

BlockShuffle::Table BlockShuffle::build(std::uint64_t epoch_seed) const {
  Table table;
  table.blocks.reserve(blocks_->count());
  blocks_->for_each([&](std::uint64_t first, std::uint64_t records) { table.blocks.push_back({first, records}); });
  Rng rng(epoch_seed, 0x626c6f636b73, Place{});
  for (std::size_t i = table.blocks.size(); i > 1; --i) std::swap(table.blocks[i - 1], table.blocks[rng.below(i)]);
  std::uint64_t before = 0;
  for (Block& block : table.blocks) before += std::exchange(block.before, before);
  return table;
}

void BlockShuffle::fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const {
  if (ranks_ != 1 && batch_rows_ != 0)
    for (OrderPoint& point : points) point.position = position_without_ranks(point.position, n);
  while (!points.empty()) {
    const std::uint64_t epoch = points.front().epoch, epoch_seed = hash_mix(seed, epoch);
    const auto table = tables_->get({seed, epoch}, [&] { return build(epoch_seed); });
    while (!points.empty() && points.front().epoch == epoch)
      points = points.subspan(fill_window(*table, epoch_seed, n, points));
  }
}

// Fills the first point and the points after it that are in the same window. Returns how many points it filled.
std::size_t BlockShuffle::fill_window(const Table& table, std::uint64_t epoch_seed, std::uint64_t n,
                                      std::span<OrderPoint> points) const {
  const auto after = [](std::uint64_t at, const Block& block) { return at < block.before; };
  const auto all = table.blocks.begin();
  const auto found = std::upper_bound(all, table.blocks.end(), points.front().position, after) - 1;
  const std::uint64_t number = static_cast<std::uint64_t>(found - all) / window_, first = number * window_;
  const std::uint64_t last = std::min<std::uint64_t>(window_, table.blocks.size() - first) + first;
  const std::uint64_t begin = table.blocks[first].before;
  const std::uint64_t end = last == table.blocks.size() ? n : table.blocks[last].before;
  const Bijection bijection(end - begin, hash_mix(epoch_seed, number));
  const auto from = all + static_cast<std::ptrdiff_t>(first), to = all + static_cast<std::ptrdiff_t>(last);
  const std::uint64_t epoch = points.front().epoch;
  std::size_t done = 0;
  for (; done < points.size(); ++done) {
    OrderPoint& point = points[done];
    if (point.epoch != epoch || point.position < begin || point.position >= end) break;
    const std::uint64_t at = begin + bijection(point.position - begin);
    const Block& block = *(std::upper_bound(from, to, at, after) - 1);
    point.position = block.first + (at - block.before);
  }
  return done;
}

}  // namespace penstock::detail
