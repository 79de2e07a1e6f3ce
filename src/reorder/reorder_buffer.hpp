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

/// One sample in work, and its row. Belongs to the thread that issues it until the ticket's limit is raised, then to
/// the runner with its ticket until `done`, then to the thread that retires it until `vacant`.
struct ReorderEntry {
  WaitingRow* row = nullptr;
  Place place;
  std::uint64_t position = 0;  ///< position in the order; for a shuffled stream not the record's number
  std::uint64_t index = 0;
  SharedRecord* record = nullptr;  ///< what it is made of; null: its own record
  Cursor next;                     ///< cursor after it
  bool last = false;               ///< the epoch ends after it
  bool decided = false;            ///< what became of `record` is what becomes of it
  bool skipped = false;            ///< nothing is to be made of it
  bool broken = false;             ///< there was no memory to say what failed
  bool no_record = false;          ///< a stream ended here
  Outcome outcome;
  std::atomic<bool> done{false};
  std::atomic<bool> vacant{true};
};

/// Samples are finished in any order and leave in order: the oldest entry is retired first, and gets the next row of a
/// batch where it survives; or it waits in a window whose samples are put together by length.
///
/// Entries are a ring: number n, counted from 0, is entry n % size. One thread at a time issues, one retires.
class ReorderBuffer {
 public:
  /// One survivor's way to its batch.
  struct Move {
    WaitingRow* from;
    ReorderEntry* entry;  ///< entry to be vacated; null: the row is a spare one then
    BatchBuffer* buffer;
    std::uint64_t row;
  };

  /// Bytes of what is known of a row besides.
  static std::size_t row_notes_bytes(const RowLayout& layout) noexcept {
    return sizeof(ReorderEntry) + sizeof(WaitingRow) + layout.varying() * sizeof(RaggedRow);
  }
  /// `entries`: those in work; `epochs`: 0 = no end; `append_limit`: bytes of one row for fields of any size. `bounds`
  /// and `outlet` outlive it.
  ReorderBuffer(const PipelineData& data, const BatchBounds& bounds, std::size_t entries, MemoryResource& memory,
                BatchOutlet& outlet, std::uint64_t epochs = 0, std::size_t append_limit = ~std::size_t{0});

  std::size_t size() const noexcept { return entries_.size(); }
  /// Takes memory for another number of entries, which `resize` is to have. One thread at a time prepares and lets go,
  /// and does so without the lock: that calls a user's resource. @throws what that throws.
  void prepare(std::size_t entries);
  /// Frees what was there before `resize`, or was prepared in vain.
  void free_replaced() noexcept;
  /// Has the entries that were prepared. Only while nothing is in work, and before a `reset`.
  void resize() noexcept;
  ReorderEntry& entry(std::uint64_t number) noexcept { return entries_[number % entries_.size()]; }
  /// Bytes of fields of any size that were copied to batches. Not during a `resize`.
  std::uint64_t appended_bytes() const noexcept { return appended_before_ + rows_->appended_bytes(); }
  /// Rows of the entries, and those that wait in a bucket window.
  const WaitingRows& rows() const noexcept { return *rows_; }
  std::byte* address(const ReorderEntry& entry, std::size_t field) const noexcept {
    return rows_->address(*entry.row, field);
  }
  /// Only while nothing is in work. The next entry to be retired is number 0, of the batch at `cursor`, before which
  /// the run counted so much.
  void reset(const Cursor& cursor, const QuotaCount& count) noexcept;

  /// Before anything is issued: bad samples keep what they say, however many come without a survivor between them.
  void list_all_bad() noexcept { filler_.list_all_bad(); }

  // -- the thread that issues --
  /// Entry `number` may be set up: what stood there is retired, and copied.
  bool vacant(std::uint64_t number) noexcept { return entry(number).vacant.load(std::memory_order_seq_cst); }
  /// Takes it, as of a sample that is to be made.
  ReorderEntry& take(std::uint64_t number) noexcept;

  // -- the runner that has its ticket --
  void clear(const ReorderEntry& entry) noexcept { rows_->clear(*entry.row); }
  void note(const ReorderEntry& entry, std::span<const RaggedRow> varying) noexcept;
  void finish(ReorderEntry& entry) noexcept { entry.done.store(true, std::memory_order_seq_cst); }

  // -- the thread that retires --
  /// The oldest entry is done, or a window is whole, and something can become of it, as far as is known.
  bool can_retire() noexcept {
    if (outlet_.stalled() || halted_.load(std::memory_order_relaxed)) return false;
    if (window_ && emitting_.load(std::memory_order_seq_cst)) return true;
    return entry(oldest_.load(std::memory_order_seq_cst)).done.load(std::memory_order_seq_cst) &&
           (!window_ || rows_->has_spare());
  }
  /// Retires as many entries as are done, until `moves` is full. Returns how many moves there are.
  std::size_t retire(std::span<Move> moves) noexcept;
  /// Copies survivors to their rows, makes their entries vacant, and tells the outlet. Any thread.
  void copy_rows(std::span<const Move> moves, const BatchRing& ring) noexcept;

  /// Nothing more becomes of what is made: the run's last batch is closed, or a failure ended it. Any thread.
  bool halted() const noexcept { return halted_.load(std::memory_order_relaxed); }
  /// Survivors retired since the beginning.
  std::uint64_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }
  /// The buffer being filled, if any. Only while nothing is in work.
  BatchBuffer* open_batch_buffer() const noexcept { return filler_.batch(); }

 private:
  // What becomes of the oldest entry.
  enum class Retired : std::uint8_t { waits, leaves, moves };
  Retired retire_one(ReorderEntry& entry, Move& move) noexcept;
  Retired emit(Move& move) noexcept;
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
  const std::uint64_t patience_;  // positions after a survivor, or a batch, in which there must be another one
  const ErrorPolicy policy_;
  BatchOutlet& outlet_;
  const PipelineData& data_;
  MemoryResource& memory_;
  const std::size_t append_limit_;
  std::unique_ptr<WaitingRows> rows_;
  std::uint64_t appended_before_ = 0;  // bytes that were appended to batches before a `resize`
  BatchFiller filler_;
  std::vector<ReorderEntry> entries_;
  // What was prepared, or was there before it.
  std::unique_ptr<WaitingRows> other_rows_;
  std::vector<ReorderEntry> other_entries_;
  QuotaCount count_;            // what the error policy's quota counts, over what is retired
  std::uint64_t survived_ = 0;  // the position after the last survivor, or batch
  std::uint64_t failed_in_row_ = 0;

  alignas(64) std::atomic<std::uint64_t> oldest_{0};  // number of the oldest entry that is not retired
  std::atomic<std::uint64_t> kept_{0};
  // By a failure that ends the run, or its last batch: nothing after it is looked at. Relaxed: set and obeyed by the
  // thread that retires; another thread that sees it late only tries to retire in vain.
  std::atomic<bool> halted_{false};

  // Where samples are put together by length.
  std::optional<BucketWindow> window_;
  std::optional<SampleLength> length_;
  std::atomic<bool> emitting_{false};  // what is collected goes to its batches
  std::size_t emitted_ = 0;            // rows of the batch in hand
};

}  // namespace penstock::detail::runtime
