// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/memory.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/pipeline_data.hpp"
#include "reorder/batch_filler.hpp"
#include "reorder/bucket_window.hpp"
#include "reorder/sample_length.hpp"
#include "reorder/waiting_rows.hpp"
#include "ring/batch_bounds.hpp"
#include "ring/batch_ring.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

struct SharedRecord;

/// One sample being processed, and its row. The entry belongs to the thread that issues, until this thread raises the
/// limit of tickets. Then the entry belongs to the runner with its ticket until `done`, and after that to the thread
/// that retires until `vacant`.
struct ReorderEntry {
  WaitingRow* row = nullptr;
  Place place;
  std::uint64_t position = 0;  ///< position in the order; in a shuffled stream it differs from the record's number
  std::uint64_t index = 0;
  SharedRecord* record = nullptr;  ///< the shared record from which the sample is made; null: the record is not shared
  Cursor next;                     ///< cursor after the sample
  bool last = false;               ///< the epoch ends after the sample
  bool decided = false;            ///< the outcome of `record` is the sample's outcome
  bool skipped = false;            ///< the sample is not made
  bool broken = false;             ///< the sample failed, and there was no memory for the error
  bool no_record = false;          ///< the entry is not a sample but the end of a stream's epoch
  Outcome outcome;
  std::atomic<bool> done{false};
  std::atomic<bool> vacant{true};
};

/// Samples are finished in any order and leave in order. The oldest entry is retired first. If its sample survives, the
/// sample gets the next row of a batch, or waits in the bucket window.
///
/// Entries are a ring: the sample with number n, counted from 0, is in entry n % size. One thread at a time issues, and
/// one thread at a time retires.
class ReorderBuffer {
 public:
  /// The move of one survivor to its batch.
  struct Move {
    WaitingRow* from;
    ReorderEntry* entry;  ///< entry to vacate after the copy; null: the row comes from the window and becomes spare
    BatchBuffer* buffer;
    std::uint64_t row;
  };

  /// Returns the bytes that are kept per row in addition to the row's values.
  static std::size_t row_notes_bytes(const RowLayout& layout) noexcept {
    return sizeof(ReorderEntry) + sizeof(WaitingRow) + layout.varying() * sizeof(RaggedRow);
  }
  /// `entries`: number of entries. `epochs`: epochs of the run; 0 = no limit. `append_limit`: most bytes in one row for
  /// fields whose rows differ in size. `bounds` and `outlet` must outlive this object.
  ReorderBuffer(const PipelineData& data, const BatchBounds& bounds, std::size_t entries, MemoryResource& memory,
                BatchOutlet& outlet, std::uint64_t epochs = 0, std::size_t append_limit = ~std::size_t{0});

  std::size_t size() const noexcept { return entries_.size(); }
  /// Allocates memory for a different number of entries, to which `resize` switches. Only one thread may
  /// call this and `free_replaced`. It must not hold the run's mutex, because both functions call the user's memory
  /// resource. @throws what the resource throws.
  void prepare(std::size_t entries);
  /// Frees the memory that `resize` replaced, or memory that was prepared and not used.
  void free_replaced() noexcept;
  /// Switches to the prepared entries. Call only while no runner works, and call `reset` after it.
  void resize() noexcept;
  ReorderEntry& entry(std::uint64_t number) noexcept { return entries_[number % entries_.size()]; }
  /// Returns the bytes that were copied to batches for fields whose rows differ in size. Don't call during a `resize`.
  std::uint64_t appended_bytes() const noexcept { return appended_before_ + rows_->appended_bytes(); }
  /// Returns all waiting rows, including spare rows.
  const WaitingRows& rows() const noexcept { return *rows_; }
  std::byte* address(const ReorderEntry& entry, std::size_t field) const noexcept {
    return rows_->address(*entry.row, field);
  }
  /// Starts with the batch at `cursor`. The next entry to retire has number 0. `count`: the run's counts
  /// before `cursor`. Call only while no runner works.
  void reset(const Cursor& cursor, const QuotaCount& count) noexcept;

  /// Keeps the errors of all bad samples. Call before anything is issued.
  void list_all_bad() noexcept { filler_.list_all_bad(); }

  // -- the thread that issues --
  /// Returns whether entry `number` may be set up, because the entry's previous sample was retired and copied.
  bool vacant(std::uint64_t number) noexcept { return entry(number).vacant.load(std::memory_order_seq_cst); }
  /// Takes the vacant entry for a sample that is to be made.
  ReorderEntry& take(std::uint64_t number) noexcept;

  // -- the runner that has the entry's ticket --
  void clear(const ReorderEntry& entry) noexcept { rows_->clear(*entry.row); }
  void note(const ReorderEntry& entry, std::span<const RaggedRow> varying) noexcept;
  void finish(ReorderEntry& entry) noexcept { entry.done.store(true, std::memory_order_seq_cst); }

  // -- the thread that retires --
  /// Returns whether something can probably be retired: the oldest entry is done, or the window is complete.
  bool can_retire() noexcept {
    if (outlet_.stalled() || halted_.load(std::memory_order_relaxed)) return false;
    if (window_ && emitting_.load(std::memory_order_seq_cst)) return true;
    return entry(oldest_.load(std::memory_order_seq_cst)).done.load(std::memory_order_seq_cst) &&
           (!window_ || rows_->has_spare());
  }
  /// Retires finished entries in order until `moves` is full or nothing can be retired. Returns the number of moves.
  std::size_t retire(std::span<Move> moves) noexcept;
  /// Copies survivors to their rows, vacates their entries, and reports to the outlet. Call after each `retire`, also
  /// without moves. Any thread.
  void copy_rows(std::span<const Move> moves, const BatchRing& ring) noexcept;

  /// Returns whether further samples are ignored, because the run's last batch is closed or a failure ended the run.
  /// Any thread.
  bool halted() const noexcept { return halted_.load(std::memory_order_relaxed); }
  /// Returns the number of survivors that got a row since the construction.
  std::uint64_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }
  /// Returns the buffer being filled, or null. Call only while no runner works.
  BatchBuffer* open_batch_buffer() const noexcept { return filler_.batch(); }

 private:
  // What a step of retiring did. `waits`: it did nothing, because no buffer is free, or the end of an epoch can't be
  // reported yet. `leaves`: it did something, but no row moves to a batch. `moves`: a row moves to its batch.
  enum class RetireResult : std::uint8_t { waits, leaves, moves };
  RetireResult retire_one(ReorderEntry& entry, Move& move) noexcept;
  RetireResult emit(Move& move) noexcept;
  std::unique_ptr<WaitingRows> make_rows(std::size_t entries) const;
  void copy_row(const Move& move, const BatchRing& ring) noexcept;
  bool make_room(const ReorderEntry& entry, bool ends_run) noexcept;
  static BatchBounds::Item item_of(const ReorderEntry& entry) noexcept;
  void tally(ReorderEntry& entry, bool ends_run) noexcept;
  void end_run(ReorderEntry& entry) noexcept;
  void keep(ReorderEntry& entry) noexcept;
  void put_in_batch(ReorderEntry& entry, Move& move) noexcept;
  void check_pass(ReorderEntry& entry) noexcept;
  void check_row(ReorderEntry& entry) noexcept;
  bool ends_run(const ReorderEntry& entry) const noexcept;
  bool told_before() const noexcept { return window_ && window_->again(); }
  bool open() noexcept { return !halted_.load(std::memory_order_relaxed) && filler_.open(); }
  void close() noexcept;

  const std::uint64_t seed_;
  const bool fixed_steps_, stream_;
  // The next survivor must come within this many positions after a survivor or a batch.
  const std::uint64_t patience_;
  const ErrorPolicy policy_;
  BatchOutlet& outlet_;
  const PipelineData& data_;
  MemoryResource& memory_;
  const std::size_t append_limit_;
  std::unique_ptr<WaitingRows> rows_;
  std::uint64_t appended_before_ = 0;  // bytes that were appended to batches before the last `resize`
  BatchFiller filler_;
  std::vector<ReorderEntry> entries_;
  // Rows and entries that were prepared, or that `resize` replaced.
  std::unique_ptr<WaitingRows> other_rows_;
  std::vector<ReorderEntry> other_entries_;
  QuotaCount count_;            // counts of the retired samples, for the error policy's quota
  std::uint64_t survived_ = 0;  // the position after the last survivor or the last batch
  std::uint64_t failed_in_row_ = 0;

  alignas(64) std::atomic<std::uint64_t> oldest_{0};  // number of the oldest sample that is not retired
  std::atomic<std::uint64_t> kept_{0};
  // A failure ended the run, or the run's last batch was closed, so later samples are ignored. Relaxed order is enough,
  // because only the thread that retires sets and needs the flag. Another thread that sees the flag late only tries to
  // retire once more.
  std::atomic<bool> halted_{false};

  // Set if `bucket` puts samples together by length.
  std::optional<BucketWindow> window_;
  std::optional<SampleLength> length_;
  std::atomic<bool> emitting_{false};  // the window is cut, and its rows go to their batches
  std::size_t emitted_ = 0;            // how many rows of the window's current batch were put in its buffer
};

}  // namespace penstock::detail::runtime
