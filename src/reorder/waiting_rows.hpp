// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <penstock/memory.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

#include "data/row_layout.hpp"
#include "data/scratch.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// Memory for the values of a sample whose row in a batch is not known yet.
struct WaitingRow {
  explicit WaitingRow(std::size_t append_limit, std::size_t fields) : arena(append_limit, 256), varying(fields) {}
  std::byte* data = nullptr;       ///< memory of the fields with rows at fixed addresses
  ScratchArena arena;              ///< memory of fields whose rows differ in size
  std::vector<RaggedRow> varying;  ///< address and shape of each field that is not dense
};

/// All waiting rows of a run. One allocation holds their fields with fixed addresses. A row belongs to an entry, waits
/// in the bucket window, or is spare.
class WaitingRows {
 public:
  /// `owned`: number of rows that belong to entries. `spare`: number of further rows. `append_limit`: most bytes in one
  /// row for fields whose rows differ in size. @throws Error(limit_exceeded | out_of_memory).
  WaitingRows(const Schema& schema, std::size_t owned, std::size_t spare, MemoryResource& memory,
              std::size_t append_limit);
  WaitingRows(const WaitingRows&) = delete;
  WaitingRows& operator=(const WaitingRows&) = delete;
  ~WaitingRows();

  /// Returns how many bytes a row takes for fields with fixed addresses. Includes the fields' alignment.
  static std::size_t row_bytes(const RowLayout& layout);
  std::size_t bytes_each() const noexcept { return bytes_; }
  std::size_t count() const noexcept { return rows_.size(); }
  WaitingRow& operator[](std::size_t number) noexcept { return *rows_[number]; }
  const RowLayout& layout() const noexcept { return layout_; }
  std::byte* address(const WaitingRow& row, std::size_t field) const noexcept { return row.data + offsets_[field]; }
  /// Sets all fields of the row to padding.
  void clear(WaitingRow& row) const noexcept;
  /// Copies a waiting row to row `row` of a batch. Any thread may call this.
  void copy(const WaitingRow& from, BatchBuffer& to, std::uint64_t row, const BatchRing& ring) noexcept;
  /// Returns the bytes that were copied for fields whose rows differ in size. `max_appended` returns the most such
  /// bytes of one row. Any thread may call these.
  std::uint64_t appended_bytes() const noexcept { return appended_.load(std::memory_order_relaxed); }
  std::size_t max_appended() const noexcept { return max_appended_.load(std::memory_order_relaxed); }

  // -- spare rows; any thread --
  bool has_spare() const noexcept { return spares_.load(std::memory_order_seq_cst) != 0; }
  /// REQUIRES: `has_spare()`.
  WaitingRow& take_spare() noexcept;
  void give_back(WaitingRow& row) noexcept;
  /// Makes all rows spare except the first `owned` rows, which belong to entries. Call only while no runner works.
  void reset() noexcept;

 private:
  std::size_t append(const WaitingRow& from, BatchBuffer& to, std::uint64_t row, const BatchRing& ring,
                     std::size_t field) noexcept;

  RowLayout layout_;
  std::vector<std::size_t> offsets_;  // offset of each field in a waiting row
  std::size_t bytes_ = 0;
  const std::size_t owned_;
  MemoryResource& memory_;
  std::byte* data_ = nullptr;
  std::vector<std::unique_ptr<WaitingRow>> rows_;
  std::mutex spare_mutex_;
  std::vector<WaitingRow*> spare_;
  std::atomic<std::size_t> spares_{0};
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::size_t> max_appended_{0};
};

}  // namespace penstock::detail::runtime
