// SPDX-License-Identifier: Apache-2.0
#include "source/give_row.hpp"

#include <vector>

#include "source/chunk_block.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

class RowGiver {
 public:
  RowGiver(const Table& table, std::uint64_t row, bool verify_checksum, Workspaces& workspaces, SampleBuilder& out)
      : table_(table), data_(table.dataset), row_(row), verify_(verify_checksum), workspaces_(workspaces), out_(out) {}

  void from_block(std::span<const std::byte> block, bool stays) {
    give(block.subspan(row_ % data_.chunk().front() * data_.row_bytes(), data_.row_bytes()), stays);
  }

  // Reads the row by itself. Called if the row is not kept, and the caller has no block with the row.
  void by_way(Hdf5Way way) {
    if (way == Hdf5Way::rows) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c)
        table_.columns[c].read(data_, row_, verify_, table_.slots[c], out_);
    } else if (way == Hdf5Way::contiguous) {
      make([&](std::span<std::byte> to) { read_contiguous(data_, row_, to); });
    } else if (table_.chunk_offsets != nullptr) {
      make([&](std::span<std::byte> to) { read_plain(data_, *table_.chunk_offsets, row_, to); });
    } else if (data_.chunk().front() == 1) {
      make([&](std::span<std::byte> to) { load_block(data_, row_, verify_, workspaces_, to); });
    } else {
      std::vector<std::byte> block(block_bytes(data_));
      load_block(data_, row_ / data_.chunk().front(), verify_, workspaces_, block);
      from_block(block, false);
    }
  }

  void from_kept() {
    if (const std::byte* rows = table_.kept->get(data_, verify_, row_, 1))
      give({rows + row_ * data_.row_bytes(), data_.row_bytes()}, true);
    else
      by_way(data_.way_unkept());
  }

 private:
  void give(std::span<const std::byte> bytes, bool stays) {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) table_.columns[c].give(bytes, stays, table_.slots[c], out_);
  }

  // If the only field is the whole row, fills the field directly. Otherwise fills memory with the row, and gives the
  // fields from there.
  void make(auto&& fill) {
    if (table_.columns.size() == 1 && table_.columns.front().is_row()) {
      const TensorView to = out_.emplace(table_.slots.front(), table_.columns.front().field().shape);
      return fill(std::span(to.data, to.bytes()));
    }
    // A row that is too large for one buffer is read column by column. Columns that are too large are refused.
    if (data_.row_bytes() > Dataset::largest_block) return by_way(Hdf5Way::rows);
    std::vector<std::byte> bytes(data_.row_bytes());
    fill(std::span(bytes));
    give(bytes, false);
  }

  const Table& table_;
  const Dataset& data_;
  std::uint64_t row_;
  bool verify_;
  Workspaces& workspaces_;
  SampleBuilder& out_;
};

}  // namespace

void give_row(const Table& table, std::uint64_t row, std::span<const std::byte> block, bool verify_checksum,
              Workspaces& workspaces, SampleBuilder& out) {
  RowGiver giver(table, row, verify_checksum, workspaces, out);
  if (table.kept != nullptr)
    giver.from_kept();
  else if (table.dataset.in_blocks())
    giver.from_block(block, true);
  else
    giver.by_way(table.dataset.way());
}

}  // namespace penstock::hdf5
