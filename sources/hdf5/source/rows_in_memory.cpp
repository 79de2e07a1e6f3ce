// SPDX-License-Identifier: Apache-2.0
#include "source/rows_in_memory.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "source/chunk_block.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

// The most stretches between lost rows that are read separately. Each read of a virtual dataset takes time for all its
// sources. If there are more stretches, all rows are read together, and lost rows get any values.
constexpr std::size_t most_stretches = 64;

// If no rows are lost, all parts except the last have at least this many bytes. So reading a part takes a thread much
// longer than claiming it.
constexpr std::size_t part_bytes = std::size_t{256} << 10;

// Returns a number of rows. Parts may begin only at multiples of this number. Returns 0 if all rows must be one part.
std::uint64_t rows_together(const Dataset& dataset) {
  switch (dataset.way_unkept()) {
    case Hdf5Way::contiguous:
      return 1;
    case Hdf5Way::chunks:
    case Hdf5Way::library:
      return block_bytes(dataset) / std::max<std::size_t>(dataset.row_bytes(), 1);
    default:
      return 0;
  }
}

std::vector<RowsInMemory::Stretch> parts_of(const Dataset& dataset) {
  const std::uint64_t together = rows_together(dataset), rows = dataset.rows();
  if (rows == 0) return {};
  if (together == 0) return {{0, rows}};
  const std::uint64_t bytes = std::max<std::uint64_t>(together * dataset.row_bytes(), 1);
  const std::uint64_t each = together * ((part_bytes + bytes - 1) / bytes);
  std::vector<RowsInMemory::Stretch> parts;
  for (std::uint64_t row = 0; row < rows; row += std::min(each, rows - row))
    parts.push_back({row, std::min(row + each, rows)});
  return parts;
}

std::vector<RowsInMemory::Stretch> between(const std::vector<std::uint64_t>& lost, std::uint64_t rows,
                                           std::vector<RowsInMemory::Stretch>& missing) {
  std::vector<RowsInMemory::Stretch> parts;
  std::uint64_t row = 0;
  for (std::size_t i = 0; i + 1 < lost.size(); i += 2) {
    const std::uint64_t first = std::min(lost[i], rows), end = std::min(lost[i + 1], rows);
    if (row < first) parts.push_back({row, first});
    if (std::max(row, first) < end) missing.push_back({std::max(row, first), end});
    row = std::max(row, end);
  }
  if (row < rows) parts.push_back({row, rows});
  return parts;
}

// Reads a part in the way that is used if rows are not kept. So the same rows count as damaged in both cases.
void read_part(const Dataset& dataset, bool verify_checksum, const RowsInMemory::Stretch& part, Workspaces& workspaces,
               std::span<std::byte> out) {
  switch (dataset.way_unkept()) {
    case Hdf5Way::contiguous:
      if (dataset.offset()) return dataset.read_stored(*dataset.offset() + part.first * dataset.row_bytes(), out);
      return dataset.fill(out);
    case Hdf5Way::chunks:
    case Hdf5Way::library: {
      const std::size_t bytes = block_bytes(dataset);
      std::vector<std::byte> last;
      for (std::uint64_t b = bytes == 0 ? 0 : part.first * dataset.row_bytes() / bytes; !out.empty() && bytes != 0;
           ++b) {
        if (out.size() >= bytes) {
          load_block(dataset, b, verify_checksum, workspaces, out.first(bytes));
          out = out.subspan(bytes);
          continue;
        }
        last.resize(bytes);
        load_block(dataset, b, verify_checksum, workspaces, last);
        std::copy_n(last.begin(), out.size(), out.begin());
        return;
      }
      return;
    }
    default:
      return read_rows(dataset, part.first, part.end - part.first, verify_checksum, out);
  }
}

}  // namespace

bool RowsInMemory::has(std::uint64_t first, std::uint64_t count) const noexcept {
  const auto missing = std::ranges::upper_bound(missing_, first, {}, &Stretch::end);
  return missing == missing_.end() || missing->first >= first + count;
}

// Prepares for reading. If memory for the rows can't be allocated, a later call can try again.
void RowsInMemory::begin(const Dataset& dataset) {
  const std::vector<std::uint64_t>& lost = dataset.others().lost;
  std::vector<Stretch> missing;
  std::vector<Stretch> parts = lost.empty() ? parts_of(dataset) : between(lost, dataset.rows(), missing);
  lost_too_ = parts.size() > most_stretches && !lost.empty();
  if (lost_too_) parts = {{0, dataset.rows()}};
  missing.reserve(missing.size() + parts.size());
  // The memory is not filled here. Each thread fills the parts that it reads.
  rows_ = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(dataset.rows() * dataset.row_bytes(), 1));
  parts_ = std::move(parts);
  missing_ = std::move(missing);
  lossy_ = !lost.empty();
}

void RowsInMemory::read_parts(std::unique_lock<std::mutex>& lock, const Dataset& dataset, bool verify_checksum) {
  Workspaces workspaces;
  while (next_ < parts_.size() && !failed_.load(std::memory_order_relaxed)) {
    const Stretch part = parts_[next_++];
    ++in_work_;
    lock.unlock();
    bool read = true;
    try {
      const std::span<std::byte> out(rows_.get() + part.first * dataset.row_bytes(),
                                     (part.end - part.first) * dataset.row_bytes());
      std::ranges::fill(out, std::byte{});
      lossy_ ? read_rows(dataset, part.first, part.end - part.first, verify_checksum, out, lost_too_)
             : read_part(dataset, verify_checksum, part, workspaces, out);
    } catch (...) {
      read = false;
    }
    lock.lock();
    --in_work_;
    if (read) continue;
    if (lost_too_) missing_.clear();
    if (lossy_)
      missing_.push_back(part);
    else
      failed_.store(true, std::memory_order_relaxed);
  }
}

const std::byte* RowsInMemory::get(const Dataset& dataset, bool verify_checksum, std::uint64_t first,
                                   std::uint64_t count) {
  if (const std::byte* rows = ready_.load(std::memory_order_acquire)) return has(first, count) ? rows : nullptr;
  if (failed_.load(std::memory_order_relaxed)) return nullptr;
  std::unique_lock lock(mutex_);
  if (rows_ == nullptr && !failed_.load(std::memory_order_relaxed)) begin(dataset);
  read_parts(lock, dataset, verify_checksum);
  if (in_work_ == 0)
    read_.notify_all();
  else
    read_.wait(lock, [this] { return in_work_ == 0; });
  if (failed_.load(std::memory_order_relaxed)) {
    rows_.reset();
    return nullptr;
  }
  if (ready_.load(std::memory_order_relaxed) == nullptr) {
    std::ranges::sort(missing_, {}, &Stretch::first);
    ready_.store(rows_.get(), std::memory_order_release);
  }
  return has(first, count) ? rows_.get() : nullptr;
}

}  // namespace penstock::hdf5
