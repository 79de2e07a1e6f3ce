// SPDX-License-Identifier: Apache-2.0
#include "source/row_range.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <penstock/extend/sample.hpp>

#include "source/chunk_block.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

// Decodes the blocks of rows [first, first + rows), one at a time, and calls `act(row, count, stored bytes)` for the
// requested rows of each block. `row` is the first of these rows. If a block has as many rows as a chunk, and all are
// requested, `place(first, rows)` may return memory for the block. Other blocks are decoded to other memory.
template <class Place, class Act>
void for_each_block(const Dataset& dataset, std::uint64_t first, std::uint64_t rows, bool verify_checksum,
                    Workspaces& workspaces, Place place, Act act) {
  const std::uint64_t in_block = dataset.chunk().front(), end = first + rows;
  std::vector<std::byte> elsewhere;
  for (std::uint64_t row = first; row < end;) {
    const std::uint64_t block = row / in_block, from = block * in_block;
    const std::uint64_t here = std::min(end, from + in_block) - row;
    std::span<std::byte> whole = here == in_block ? place(row, here) : std::span<std::byte>();
    if (whole.empty()) {
      elsewhere.resize(block_bytes(dataset));
      whole = elsewhere;
    }
    load_block(dataset, block, verify_checksum, workspaces, whole);
    act(row, here, whole.subspan((row - from) * dataset.row_bytes(), here * dataset.row_bytes()));
    row += here;
  }
}

// Copies rows whose stored bytes are the field's values.
void copy_stored(const Dataset& dataset, std::uint64_t first, std::uint64_t rows, bool verify_checksum,
                 Workspaces& workspaces, std::span<std::byte> out) {
  switch (dataset.way_unkept()) {
    case Hdf5Way::contiguous:
      return read_contiguous(dataset, first, out);
    case Hdf5Way::chunks:
    case Hdf5Way::library: {
      const auto place = [&](std::uint64_t row, std::uint64_t count) {
        return out.subspan((row - first) * dataset.row_bytes(), count * dataset.row_bytes());
      };
      return for_each_block(dataset, first, rows, verify_checksum, workspaces, place,
                            [&](std::uint64_t row, std::uint64_t count, std::span<const std::byte> stored) {
                              const std::span<std::byte> to = place(row, count);
                              if (to.data() != stored.data()) std::ranges::copy(stored, to.begin());
                            });
    }
    default:
      return read_rows(dataset, first, rows, verify_checksum, out);
  }
}

// Copies the values of rows whose stored bytes must be taken apart or converted.
class RowConverter {
 public:
  RowConverter(const Table& table, std::size_t column, const Field& field)
      : table_(table), column_(table.columns[column]), sample_(Schema{field}) {}

  void give(std::span<const std::byte> row, std::span<std::byte> to) {
    SampleBuilder out = sample_.builder();
    column_.give(row, false, 0, out);
    take(to);
  }
  void read(std::uint64_t row, bool verify_checksum, std::span<std::byte> to) {
    SampleBuilder out = sample_.builder();
    column_.read(table_.dataset, row, verify_checksum, 0, out);
    take(to);
  }

 private:
  void take(std::span<std::byte> to) { std::ranges::copy(sample_.sample().bytes(std::size_t{0}), to.begin()); }

  const Table& table_;
  const Column& column_;
  OwnedSample sample_;
};

void copy_by_value(const Table& table, std::size_t column, const Field& field, std::uint64_t first, std::uint64_t rows,
                   bool verify_checksum, Workspaces& workspaces, std::span<std::byte> out) {
  const Dataset& dataset = table.dataset;
  RowConverter values(table, column, field);
  const std::size_t value_bytes = rows == 0 ? 0 : out.size() / rows;
  const auto place = [&](std::uint64_t row) { return out.subspan((row - first) * value_bytes, value_bytes); };
  if (dataset.way_unkept() == Hdf5Way::rows) {
    for (std::uint64_t row = first; row < first + rows; ++row) values.read(row, verify_checksum, place(row));
    return;
  }
  const auto give = [&](std::uint64_t row, std::uint64_t count, std::span<const std::byte> stored) {
    for (std::uint64_t i = 0; i < count; ++i)
      values.give(stored.subspan(i * dataset.row_bytes(), dataset.row_bytes()), place(row + i));
  };
  if (dataset.way_unkept() != Hdf5Way::contiguous)
    return for_each_block(
        dataset, first, rows, verify_checksum, workspaces,
        [](std::uint64_t, std::uint64_t) { return std::span<std::byte>(); }, give);
  std::vector<std::byte> stored(dataset.row_bytes());
  for (std::uint64_t row = first; row < first + rows; ++row) {
    read_contiguous(dataset, row, stored);
    give(row, 1, stored);
  }
}

}  // namespace

void copy_rows(const Table& table, std::size_t column, const Field& field, std::uint64_t first, std::uint64_t rows,
               bool verify_checksum, Workspaces& workspaces, std::span<std::byte> out) {
  const Dataset& dataset = table.dataset;
  dataset.file().require_own_process();
  if (out.empty()) return;
  const bool stored = table.columns[column].is_row();
  if (const std::byte* kept = table.kept ? table.kept->get(dataset, verify_checksum, first, rows) : nullptr) {
    const std::span<const std::byte> all(kept + first * dataset.row_bytes(), rows * dataset.row_bytes());
    if (stored) {
      std::ranges::copy(all, out.begin());
      return;
    }
    RowConverter values(table, column, field);
    const std::size_t value_bytes = out.size() / rows;
    for (std::uint64_t i = 0; i < rows; ++i)
      values.give(all.subspan(i * dataset.row_bytes(), dataset.row_bytes()), out.subspan(i * value_bytes, value_bytes));
    return;
  }
  if (stored) return copy_stored(dataset, first, rows, verify_checksum, workspaces, out);
  copy_by_value(table, column, field, first, rows, verify_checksum, workspaces, out);
}

}  // namespace penstock::hdf5
