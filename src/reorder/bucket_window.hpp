#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/stages/batch.hpp>

#include "data/cursor.hpp"
#include "ring/batch_bounds.hpp"

namespace penstock::detail::runtime {

struct WaitingRow;

/// A survivor whose batch is not known yet.
struct Survivor {
  WaitingRow* row = nullptr;
  std::span<const RaggedRow> varying;  ///< the row's fields that are not dense
  std::uint64_t index = 0;
  bool masked = false;
  std::int64_t length = 0;
};

/// Consecutive survivors that are looked at together, and the batches made of them. Allocates nothing but in the
/// constructor. One thread at a time.
class BucketWindow {
 public:
  BucketWindow(std::uint64_t size, Tail tail, const BatchBounds& bounds);

  /// Begins to collect at `begin`; of the batches of the first window, `done` were delivered before.
  void reset(const Cursor& begin, std::uint64_t done) noexcept;
  /// Takes one more. Only while `collecting()`.
  void add(const Survivor& kept) noexcept { kept_[count_++] = kept; }
  bool full() const noexcept { return count_ == kept_.size(); }
  bool empty() const noexcept { return count_ == 0; }
  bool collecting() const noexcept { return !cut_; }
  /// What is collected was collected before, and is told already.
  bool again() const noexcept { return done_ != 0; }
  /// Puts like lengths together. `next`: after the window; `last`: the epoch ends there. Batches come in an order that
  /// `seed` and the window's beginning give.
  void cut(std::uint64_t seed, const Cursor& next, bool last) noexcept;

  // -- once it is cut --
  bool last() const noexcept { return last_; }
  const Cursor& next() const noexcept { return next_; }
  /// Whether there is one more batch.
  bool has_batch() const noexcept { return batch_ != sequence_.size(); }
  /// It is not wanted: delivered before.
  bool skips() const noexcept { return batch_ < done_; }
  /// Rows of the batch in hand.
  std::span<const std::uint32_t> batch() const noexcept;
  const Survivor& operator[](std::uint32_t row) const noexcept { return kept_[row]; }
  /// The cursor after the batch in hand.
  Cursor cursor_after() const noexcept;
  void next_batch() noexcept { ++batch_; }
  /// Rows that are in no batch.
  std::span<const std::uint32_t> left_over() const noexcept;
  /// All batches are through: collects the next window.
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
  std::vector<std::uint32_t> sequence_;  ///< batches as they come
  std::size_t batch_ = 0;
  BatchBounds::Fill fill_;
};

}  // namespace penstock::detail::runtime
