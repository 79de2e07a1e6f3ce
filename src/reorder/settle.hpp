#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <penstock/batch_stage.hpp>
#include <penstock/error.hpp>
#include <penstock/memory.hpp>
#include <penstock/place.hpp>
#include <penstock/schema.hpp>

#include "data/cursor.hpp"
#include "data/scratch.hpp"
#include "pipeline/batch_bounds.hpp"
#include "pipeline/make.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/policy.hpp"
#include "reorder/window.hpp"
#include "ring/slots.hpp"

namespace penstock::detail {

struct Origin;

/// Memory for a row that waits for its place.
struct SettleRow {
  explicit SettleRow(std::size_t append_limit, std::size_t fields) : arena(append_limit, 256), varying(fields) {}
  std::byte* data = nullptr;       ///< places of the fields that have one
  ScratchArena arena;              ///< what is appended
  std::vector<RaggedRow> varying;  ///< fields that are not dense
};

/// One sample in work, and its row. Belongs to whoever issues it until the ticket's limit is raised, then to
/// the runner with its ticket until `done`, then to who settles it until `vacant`.
struct SettleCell {
  SettleRow* row = nullptr;
  Place place;
  std::uint64_t position = 0;  ///< in the order; of a shuffled stream not the record's number
  std::uint64_t index = 0;
  Origin* origin = nullptr;  ///< what it is made of; null: its own record
  Cursor next;               ///< behind it
  bool last = false;         ///< the epoch ends behind it
  bool decided = false;      ///< what became of its origin is what becomes of it
  bool skipped = false;      ///< nothing is to be made of it
  bool broken = false;       ///< there was no memory to say what failed
  Made made;
  std::atomic<bool> done{false};
  std::atomic<bool> vacant{true};
};

/// How an epoch ended: what its last batch does not tell.
struct EpochEnd {
  std::uint64_t epoch = 0;
  /// Bad ones behind the last batch; with Tail::drop also those of the batch that is not wanted.
  std::uint64_t samples = 0;
  std::uint64_t filtered = 0, skipped = 0;  ///< as of a slot
  std::vector<BadSample> bad;
  std::uint64_t unlisted = 0;  ///< behind those, as of a slot
  bool broken = false;         ///< some could not even be reported
};

/// Where settled rows go.
class SettleOutlet {
 public:
  virtual ~SettleOutlet() = default;
  /// A slot to fill, of which nothing is set; null: none is free now (and the window is marked as stalled).
  virtual Slot* open_batch() noexcept = 0;
  /// All its rows have their places: it is the next batch. It becomes ready when they are copied.
  virtual void close_batch(Slot& slot) noexcept = 0;
  /// It was opened for an incomplete batch that is not wanted. Rows may still be copied into it.
  virtual void discard_batch(Slot& slot) noexcept = 0;
  /// Whether the end of an epoch can be told now; if not, the window is marked as stalled.
  virtual bool has_room_for_end() noexcept = 0;
  virtual void end_epoch(EpochEnd end) noexcept = 0;
};

/// The window of a settled pipeline: samples are finished in any order, and find their rows in order.
///
/// Cells are a ring: number n, from 0, is in cell n % size. One thread at a time issues, one decides.
class Settle {
 public:
  /// One survivor's way to its batch.
  struct Move {
    SettleRow* from;
    SettleCell* cell;  ///< to be vacated; null: the row is a spare one then
    Slot* slot;
    std::uint64_t row;
  };

  static std::size_t row_bytes(const RowLayout& layout);
  /// Bytes of what is known of a row besides.
  static std::size_t row_notes_bytes(const RowLayout& layout) noexcept {
    return sizeof(SettleCell) + sizeof(SettleRow) + layout.varying() * sizeof(RaggedRow);
  }
  /// `cells`: those in work; `epochs`: 0 = no end; `append_limit`: bytes of one row for fields of any size.
  Settle(const PipelineData& data, const BatchBounds& bounds, std::size_t cells, MemoryResource& memory,
         std::uint64_t epochs = 0, std::size_t append_limit = ~std::size_t{0});
  Settle(const Settle&) = delete;
  Settle& operator=(const Settle&) = delete;
  ~Settle();

  std::size_t size() const noexcept { return cells_.size(); }
  std::size_t bytes_each() const noexcept { return bytes_; }
  SettleCell& cell(std::uint64_t number) noexcept { return cells_[number % cells_.size()]; }
  /// Cells, and rows beside them that wait in a window.
  std::size_t rows() const noexcept { return all_rows_.size(); }
  std::byte* place(const SettleCell& cell, std::size_t field) const noexcept {
    return cell.row->data + offsets_[field];
  }
  /// Only while nothing is in work. The next cell decided is number 0, of the batch at `cursor`, before which the run
  /// counted so much.
  void reset(const Cursor& cursor, const QuotaCount& count) noexcept;

  // -- who issues --
  /// Cell `number` may be set up: what stood there is settled.
  bool vacant(std::uint64_t number) noexcept { return cell(number).vacant.load(std::memory_order_seq_cst); }
  /// Takes it, as of a sample that is to be made.
  SettleCell& take(std::uint64_t number) noexcept;

  // -- who has its ticket --
  void clear(const SettleCell& cell) noexcept;
  void note(const SettleCell& cell, std::span<const RaggedRow> varying) noexcept;
  void finish(SettleCell& cell) noexcept { cell.done.store(true, std::memory_order_seq_cst); }

  // -- who decides --
  /// The oldest cell is done, or a window is whole, and something can become of it, as far as is known.
  bool decidable() noexcept {
    if (stalled_.load(std::memory_order_seq_cst) || halted_.load(std::memory_order_relaxed)) return false;
    if (window_ && emitting_.load(std::memory_order_seq_cst)) return true;
    return cell(settled_.load(std::memory_order_seq_cst)).done.load(std::memory_order_seq_cst) &&
           (!window_ || spares_.load(std::memory_order_seq_cst) != 0);
  }
  /// Decides as many cells as are done, until `moves` is full. Returns how many moves there are.
  std::size_t decide(std::span<Move> moves, SettleOutlet& outlet) noexcept;
  /// Copies a survivor to its row and makes its cell vacant. Any thread.
  void carry_out(const Move& move, const Slots& slots) noexcept;

  /// True: a slot, or room for the end of an epoch, was missing. Set by the outlet that has none, cleared when it has.
  std::atomic<bool>& stalled() noexcept { return stalled_; }
  /// Survivors settled since the beginning.
  std::uint64_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }
  /// Bytes that were copied of fields without a place of their own; and the most of one row. Any thread.
  std::uint64_t appended_bytes() const noexcept { return appended_.load(std::memory_order_relaxed); }
  std::size_t most_appended() const noexcept { return most_appended_.load(std::memory_order_relaxed); }
  /// The slot being filled, if any. Only while nothing is in work.
  Slot* open_slot() const noexcept { return slot_; }

 private:
  bool decide_one(SettleCell& cell, SettleOutlet& outlet, Move& move, bool& survives) noexcept;
  void check_pass(SettleCell& cell) noexcept;
  bool emit(SettleOutlet& outlet, Move& move, bool& moves) noexcept;
  void keep(SettleCell& cell) noexcept;
  void put(const Kept& kept, SettleCell* cell, Move& move) noexcept;
  std::int64_t length_of(const SettleCell& cell) const noexcept;
  void spare(SettleRow* row) noexcept;
  std::size_t append(const Move& move, const Slots& slots, std::size_t field) noexcept;
  bool open(SettleOutlet& outlet) noexcept;
  void close(SettleOutlet& outlet) noexcept;
  void end_epoch(const Cursor& next, SettleOutlet& outlet) noexcept;
  void note_bad(Error error, bool fatal, bool must) noexcept;

  RowLayout layout_;
  const BatchBounds& bounds_;
  std::vector<std::size_t> offsets_;  // of each field
  std::size_t bytes_ = 0;
  std::uint64_t rows_, seed_;
  std::uint64_t steps_, epochs_;  // batches an epoch, or 0 where the data end it; of the run
  std::uint64_t patience_;        // positions behind a survivor, or a batch, in which there must be another one
  Tail tail_;
  ErrorPolicy policy_;
  QuotaCount count_;  // as far as is decided
  MemoryResource* memory_;
  std::byte* data_ = nullptr;
  std::vector<std::unique_ptr<SettleRow>> all_rows_;
  std::vector<SettleCell> cells_;
  std::size_t length_field_ = 0, length_rank_ = 0;
  DType length_dtype_ = DType::u8;
  std::int64_t fixed_length_ = 0;

  alignas(64) std::atomic<std::uint64_t> settled_{0};  // number of the oldest cell that is not decided
  std::atomic<bool> stalled_{false};
  std::atomic<std::uint64_t> kept_{0};
  // By a failure that ends the run: nothing behind it is looked at. Relaxed: set and obeyed by who decides, one after
  // the other; another that sees it late asks to decide in vain.
  std::atomic<bool> halted_{false};
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::size_t> most_appended_{0};
  Slot* slot_ = nullptr;
  BatchBounds::Fill fill_;      // of the slot
  Cursor at_;                   // of the next batch
  std::uint64_t survived_ = 0;  // the position behind the last survivor, or batch
  EpochEnd carried_;            // bad samples that stand in no batch yet

  // Where samples are put together by length.
  std::optional<Window> window_;
  std::atomic<bool> emitting_{false};  // what is collected goes to its batches
  std::size_t emitted_ = 0;            // rows of the batch in hand
  std::mutex spare_mutex_;
  std::vector<SettleRow*> spare_rows_;
  std::atomic<std::size_t> spares_{0};
};

}  // namespace penstock::detail
