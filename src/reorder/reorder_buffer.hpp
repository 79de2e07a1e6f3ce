#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/memory.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "data/scratch.hpp"
#include "pipeline/batch_bounds.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/policy.hpp"
#include "reorder/bucket_window.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail {

struct SharedRecord;

/// Memory for a row that waits until those before it have their rows in a batch.
struct WaitingRow {
  explicit WaitingRow(std::size_t append_limit, std::size_t fields) : arena(append_limit, 256), varying(fields) {}
  std::byte* data = nullptr;       ///< of the fields at fixed addresses
  ScratchArena arena;              ///< what is appended
  std::vector<RaggedRow> varying;  ///< fields that are not dense
};

/// One sample in work, and its row. Belongs to the thread that issues it until the ticket's limit is raised, then to
/// the runner with its ticket until `done`, then to the thread that retires it until `vacant`.
struct ReorderEntry {
  WaitingRow* row = nullptr;
  Place place;
  std::uint64_t position = 0;  ///< in the order; of a shuffled stream not the record's number
  std::uint64_t index = 0;
  SharedRecord* record = nullptr;  ///< what it is made of; null: its own record
  Cursor next;                     ///< the one after it
  bool last = false;               ///< the epoch ends after it
  bool decided = false;            ///< what became of `record` is what becomes of it
  bool skipped = false;            ///< nothing is to be made of it
  bool broken = false;             ///< there was no memory to say what failed
  Outcome outcome;
  std::atomic<bool> done{false};
  std::atomic<bool> vacant{true};
};

/// How an epoch ended: what its last batch does not tell.
struct EpochEnd {
  std::uint64_t epoch = 0;
  /// Bad ones after the last batch; with Tail::drop also those of the batch that is not wanted.
  std::uint64_t samples = 0;
  std::uint64_t filtered = 0, skipped = 0;  ///< as of a buffer
  std::vector<BadSample> bad;
  std::uint64_t unlisted = 0;  ///< after those, as of a buffer
  bool broken = false;         ///< some could not even be reported
};

/// Where retired rows go.
class BatchOutlet {
 public:
  virtual ~BatchOutlet() = default;
  /// A buffer to fill, of which nothing is set; null: none is free now (and the window is marked as stalled).
  virtual BatchBuffer* open_batch() noexcept = 0;
  /// All its rows are taken: it is the next batch. It becomes ready when they are copied.
  virtual void close_batch(BatchBuffer& buffer) noexcept = 0;
  /// It was opened for an incomplete batch that is not wanted. Rows may still be copied into it.
  virtual void discard_batch(BatchBuffer& buffer) noexcept = 0;
  /// Whether the end of an epoch can be told now; if not, the window is marked as stalled.
  virtual bool has_room_for_end() noexcept = 0;
  virtual void end_epoch(EpochEnd end) noexcept = 0;
};

/// Samples are finished in any order and leave in order: the oldest entry is retired first, and gets the next row of a
/// batch where it survives.
///
/// Entries are a ring: number n, counted from 0, is entry n % size. One thread at a time issues, one retires.
class ReorderBuffer {
 public:
  /// One survivor's way to its batch.
  struct Move {
    WaitingRow* from;
    ReorderEntry* entry;  ///< to be vacated; null: the row is a spare one then
    BatchBuffer* buffer;
    std::uint64_t row;
  };

  static std::size_t row_bytes(const RowLayout& layout);
  /// Bytes of what is known of a row besides.
  static std::size_t row_notes_bytes(const RowLayout& layout) noexcept {
    return sizeof(ReorderEntry) + sizeof(WaitingRow) + layout.varying() * sizeof(RaggedRow);
  }
  /// `entries`: those in work; `epochs`: 0 = no end; `append_limit`: bytes of one row for fields of any size.
  ReorderBuffer(const PipelineData& data, const BatchBounds& bounds, std::size_t entries, MemoryResource& memory,
                std::uint64_t epochs = 0, std::size_t append_limit = ~std::size_t{0});
  ReorderBuffer(const ReorderBuffer&) = delete;
  ReorderBuffer& operator=(const ReorderBuffer&) = delete;
  ~ReorderBuffer();

  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t bytes_each() const noexcept { return bytes_; }
  ReorderEntry& entry(std::uint64_t number) noexcept { return entries_[number % entries_.size()]; }
  /// Rows of the entries, and those that wait in a bucket window.
  std::size_t rows() const noexcept { return all_rows_.size(); }
  std::byte* address(const ReorderEntry& entry, std::size_t field) const noexcept {
    return entry.row->data + offsets_[field];
  }
  /// Only while nothing is in work. The next entry to be retired is number 0, of the batch at `cursor`, before which
  /// the run counted so much.
  void reset(const Cursor& cursor, const QuotaCount& count) noexcept;

  /// Before anything is issued: bad samples keep what they say, however many come without a survivor between them.
  void list_all_bad() noexcept { most_listed_ = ~std::size_t{0}; }

  // -- the thread that issues --
  /// Entry `number` may be set up: what stood there is retired, and copied.
  bool vacant(std::uint64_t number) noexcept { return entry(number).vacant.load(std::memory_order_seq_cst); }
  /// Takes it, as of a sample that is to be made.
  ReorderEntry& take(std::uint64_t number) noexcept;

  // -- the runner that has its ticket --
  void clear(const ReorderEntry& entry) noexcept;
  void note(const ReorderEntry& entry, std::span<const RaggedRow> varying) noexcept;
  void finish(ReorderEntry& entry) noexcept { entry.done.store(true, std::memory_order_seq_cst); }

  // -- the thread that retires --
  /// The oldest entry is done, or a window is whole, and something can become of it, as far as is known.
  bool can_retire() noexcept {
    if (stalled_.load(std::memory_order_seq_cst) || halted_.load(std::memory_order_relaxed)) return false;
    if (window_ && emitting_.load(std::memory_order_seq_cst)) return true;
    return entry(oldest_.load(std::memory_order_seq_cst)).done.load(std::memory_order_seq_cst) &&
           (!window_ || spares_.load(std::memory_order_seq_cst) != 0);
  }
  /// Retires as many entries as are done, until `moves` is full. Returns how many moves there are.
  std::size_t retire(std::span<Move> moves, BatchOutlet& outlet) noexcept;
  /// Copies a survivor to its row and makes its entry vacant. Any thread.
  void copy_row(const Move& move, const BatchRing& ring) noexcept;

  /// True: a buffer, or room for the end of an epoch, was missing. Set by the outlet that has none, cleared when it
  /// has.
  std::atomic<bool>& stalled() noexcept { return stalled_; }
  /// Survivors retired since the beginning.
  std::uint64_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }
  /// Bytes that were copied of fields without a fixed address; and the most of one row. Any thread.
  std::uint64_t appended_bytes() const noexcept { return appended_.load(std::memory_order_relaxed); }
  std::size_t max_appended() const noexcept { return max_appended_.load(std::memory_order_relaxed); }
  /// The buffer being filled, if any. Only while nothing is in work.
  BatchBuffer* open_batch_buffer() const noexcept { return batch_; }

 private:
  bool retire_one(ReorderEntry& entry, BatchOutlet& outlet, Move& move, bool& survives) noexcept;
  void check_pass(ReorderEntry& entry) noexcept;
  bool emit(BatchOutlet& outlet, Move& move, bool& moves) noexcept;
  void keep(ReorderEntry& entry) noexcept;
  bool admits(const ReorderEntry& entry) const noexcept;
  void put(const Survivor& kept, ReorderEntry* entry, Move& move) noexcept;
  std::int64_t length_of(const ReorderEntry& entry) const noexcept;
  void spare(WaitingRow* row) noexcept;
  std::size_t append(const Move& move, const BatchRing& ring, std::size_t field) noexcept;
  bool open(BatchOutlet& outlet) noexcept;
  void close(BatchOutlet& outlet) noexcept;
  void end_epoch(const Cursor& next, BatchOutlet& outlet) noexcept;
  void note_bad(Error error, bool fatal, bool must) noexcept;

  RowLayout layout_;
  const BatchBounds& bounds_;
  const GroupTable* groups_;            // that end a batch; null: none do
  std::uint64_t group_ = 0, pass_ = 0;  // of the batch that is being filled
  std::vector<std::size_t> offsets_;    // of each field
  std::size_t bytes_ = 0;
  std::uint64_t rows_, seed_;
  std::uint64_t steps_, epochs_;  // batches an epoch, or 0 where the data end it; of the run
  std::uint64_t patience_;        // positions after a survivor, or a batch, in which there must be another one
  std::size_t most_listed_;       // bad samples in a row that keep what they say
  Tail tail_;
  ErrorPolicy policy_;
  QuotaCount count_;  // of what is retired
  MemoryResource* memory_;
  std::byte* data_ = nullptr;
  std::vector<std::unique_ptr<WaitingRow>> all_rows_;
  std::vector<ReorderEntry> entries_;
  std::size_t length_field_ = 0, length_rank_ = 0;
  DType length_dtype_ = DType::u8;
  std::int64_t fixed_length_ = 0;

  alignas(64) std::atomic<std::uint64_t> oldest_{0};  // number of the oldest entry that is not retired
  std::atomic<bool> stalled_{false};
  std::atomic<std::uint64_t> kept_{0};
  // By a failure that ends the run: nothing after it is looked at. Relaxed: set and obeyed by the thread that retires;
  // another thread that sees it late only tries to retire in vain.
  std::atomic<bool> halted_{false};
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::size_t> max_appended_{0};
  BatchBuffer* batch_ = nullptr;
  BatchBounds::Fill fill_;      // of the buffer
  Cursor at_;                   // of the next batch
  std::uint64_t survived_ = 0;  // the position after the last survivor, or batch
  EpochEnd carried_;            // bad samples that stand in no batch yet

  // Where samples are put together by length.
  std::optional<BucketWindow> window_;
  std::atomic<bool> emitting_{false};  // what is collected goes to its batches
  std::size_t emitted_ = 0;            // rows of the batch in hand
  std::mutex spare_mutex_;
  std::vector<WaitingRow*> spare_rows_;
  std::atomic<std::size_t> spares_{0};
};

}  // namespace penstock::detail
