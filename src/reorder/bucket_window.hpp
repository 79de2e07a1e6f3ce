// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/stages/batch.hpp>
#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "ring/batch_bounds.hpp"

namespace penstock::detail::runtime {

struct WaitingRow;

/// A survivor whose batch is not known yet.
struct Survivor {
  WaitingRow* row = nullptr;
  std::span<const RaggedRow> varying;  ///< the row's values of the fields that are not dense
  std::uint64_t index = 0;
  bool masked = false;
  std::int64_t length = 0;
  Place draw_place = {};  ///< place of the sample's draws
};

/// Collects consecutive survivors and makes batches of them. Allocates only in the constructor. One thread at a time
/// may use it.
class BucketWindow {
 public:
  BucketWindow(std::uint64_t size, Tail tail, const BatchBounds& bounds);

  /// Starts to collect at `begin`. `done`: how many batches of the first window were delivered before a resume.
  void reset(const Cursor& begin, std::uint64_t done) noexcept;
  /// Adds a survivor to the window. REQUIRES: `collecting()`.
  void add(const Survivor& kept) noexcept { kept_[count_++] = kept; }
  bool full() const noexcept { return count_ == kept_.size(); }
  bool empty() const noexcept { return count_ == 0; }
  bool collecting() const noexcept { return !cut_; }
  /// Returns whether the window was already collected before a resume, so that its samples were already counted.
  bool again() const noexcept { return done_ != 0; }
  /// Makes batches of samples of similar length. `next`: the cursor after the window. `last`: the epoch ends after the
  /// window. `seed` and the cursor of the window's beginning decide the order of the batches.
  void cut(std::uint64_t seed, const Cursor& next, bool last) noexcept;

  // -- after `cut` --
  bool last() const noexcept { return last_; }
  const Cursor& next() const noexcept { return next_; }
  /// Returns whether there is a current batch; false after the last batch.
  bool has_batch() const noexcept { return batch_ != sequence_.size(); }
  /// Returns whether the current batch is skipped, because it was delivered before a resume.
  bool skips() const noexcept { return batch_ < done_; }
  /// Returns the numbers of the window's rows that are in the current batch.
  std::span<const std::uint32_t> batch() const noexcept;
  const Survivor& operator[](std::uint32_t row) const noexcept { return kept_[row]; }
  /// Returns the cursor after the current batch.
  Cursor cursor_after() const noexcept;
  void next_batch() noexcept { ++batch_; }
  /// Returns the numbers of the window's rows that are in no batch.
  std::span<const std::uint32_t> left_over() const noexcept;
  /// Starts to collect the next window. REQUIRES: `!has_batch()`.
  void begin_next() noexcept;

 private:
  void cut_by_rows(std::size_t rows) noexcept;
  void cut_by_size() noexcept;
  void sort(std::size_t count) noexcept;

  const BatchBounds& bounds_;
  Tail tail_;
  std::vector<Survivor> kept_;
  std::size_t count_ = 0;
  Cursor begin_, next_;
  std::uint64_t done_ = 0;
  bool cut_ = false, last_ = false;
  std::vector<std::uint32_t> order_;     ///< numbers of rows in `kept_`, batch by batch
  std::vector<std::uint32_t> ends_;      ///< where each batch in `order_` ends
  std::vector<std::uint32_t> sequence_;  ///< batches in the order of delivery
  std::size_t batch_ = 0;
  BatchBounds::Fill fill_;
};

}  // namespace penstock::detail::runtime
