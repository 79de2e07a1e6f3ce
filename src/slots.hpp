#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <penstock/device.hpp>
#include <penstock/error.hpp>
#include <penstock/memory.hpp>
#include <penstock/schema.hpp>

#include "cursor.hpp"
#include "row_layout.hpp"
#include "slot_arena.hpp"

namespace penstock::detail {

/// A batch is in one of these states; the only ways are free → filling → ready → leased → free, and filling or ready →
/// free when what is unread is given up. (Devices add leased → draining → free.)
enum class SlotState : std::uint8_t { free, filling, ready, leased, draining };

struct BadSample {
  std::uint64_t row;
  Error error;
  bool fatal;  ///< no policy could act on it
};

/// What was read instead of a bad sample. Entered into `indices` only when the batch is delivered, as that list is
/// what other threads read from.
struct Replaced {
  std::uint64_t row, index;
};

/// A field whose rows were made as long as the longest.
struct PaddedRows {
  std::byte* data = nullptr;
  std::int64_t longest = 0;
};

/// One batch's memory and what is known about it.
struct Slot {
  Slot(MemoryResource& memory, std::size_t limit) : arena(memory, limit) {}
  std::byte* data = nullptr;
  std::atomic<SlotState> state{SlotState::free};
  std::uint64_t epoch = 0, number = 0, first = 0;
  std::uint64_t valid = 0;     ///< rows that are samples
  std::uint64_t rows = 0;      ///< rows delivered: `valid`, and padding
  std::uint64_t samples = 0;   ///< `valid`, and bad ones that were dropped
  std::uint64_t filtered = 0;  ///< beside those, left behind by a filter
  std::uint64_t skipped = 0;   ///< of `samples`, those of which nothing was to be made
  Cursor next;                 ///< behind it
  bool discarded = false;      ///< goes back to free when it is done
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<RowPlace> places;  ///< of each row, where the engine keeps them
  std::mutex bad_mutex;          ///< of the next two
  std::vector<BadSample> bad;
  std::uint64_t unlisted = 0;  ///< bad ones behind those, too many to keep what they say
  std::vector<Replaced> replaced;
  std::atomic<bool> broken{false};  ///< a row could not even be reported bad
  // Of the fields that are not dense, all rows of one behind those of the other:
  std::vector<RaggedRow> varying;
  std::vector<std::int64_t> lengths;
  std::vector<PaddedRows> padded;
  SlotArena arena;
  std::mutex overflow_mutex;
  std::optional<Error> overflow;  ///< its rows found no room
  alignas(64) std::atomic<std::uint32_t> left{0};
};

/// The ring of batches. All memory is allocated in the constructor. `acquire` and `release` under the caller's lock;
/// `place` and `finish` from any thread.
class Slots {
 public:
  static constexpr std::size_t field_alignment = 256;
  /// Bytes of one slot for `rows` rows, in fields that have places. @throws Error(limit_exceeded) on overflow.
  static std::size_t slot_bytes(const Schema& schema, std::uint64_t rows);

  /// Bytes of what a slot knows of each row besides.
  static std::size_t row_notes_bytes(const RowLayout& layout) noexcept {
    return sizeof(std::uint64_t) + sizeof(std::uint8_t) + layout.varying() * (sizeof(RaggedRow) + sizeof(std::int64_t));
  }

  /// `append_limit`: bytes of one slot for fields of any size.
  Slots(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
        std::size_t append_limit = ~std::size_t{0});
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots();

  std::size_t depth() const noexcept { return slots_.size(); }
  std::uint64_t rows() const noexcept { return rows_; }
  std::size_t bytes_each() const noexcept { return bytes_; }
  std::size_t row_bytes(std::size_t field) const noexcept { return layout_[field].row_bytes; }
  std::size_t fields() const noexcept { return offsets_.size(); }
  const RowLayout& layout() const noexcept { return layout_; }
  /// Bytes of its rows, as they are delivered.
  std::uint64_t bytes_of(const Slot& slot) const noexcept;
  /// The most that fields of any size needed in one slot.
  std::size_t appended_bytes() const noexcept;

  /// A free slot, now filling, or null. Its arena is still to be reset, without the lock: that calls a user's resource.
  Slot* acquire() noexcept;
  std::byte* place(const Slot& slot, std::size_t field, std::uint64_t row) const noexcept {
    return slot.data + offsets_[field] + row * layout_[field].row_bytes;
  }
  /// Zeros, padding, nothing.
  void clear_row(Slot& slot, std::uint64_t row) const noexcept;
  /// Where the row of a field that is not dense is.
  void note(Slot& slot, std::size_t field, std::uint64_t row, std::byte* data, const Shape& shape) const noexcept;
  /// Call where `append` failed, inside the catch block.
  static void note_overflow(Slot& slot) noexcept;
  std::span<const RaggedRow> varying_rows(const Slot& slot, std::size_t field) const noexcept {
    return std::span(slot.varying).subspan(layout_[field].varying * rows_, slot.rows);
  }
  std::span<const std::int64_t> lengths(const Slot& slot, std::size_t field) const noexcept {
    return std::span(slot.lengths).subspan(layout_[field].varying * rows_, slot.rows);
  }
  const PaddedRows& padded(const Slot& slot, std::size_t field) const noexcept {
    return slot.padded[layout_[field].varying];
  }
  /// What became of a slot when some of its parts were done: there are more; it is ready; it is not wanted, and the
  /// caller's to release.
  enum class Finished : std::uint8_t { no, ready, discarded };
  Finished finish(Slot& slot, std::uint32_t parts) noexcept;
  void lease(Slot& slot) noexcept;
  /// Back to free, from any state. `after`: the stream whose work must be done first; the host's is done already.
  void release(Slot& slot, StreamRef after) noexcept;
  std::span<const std::unique_ptr<Slot>> all() const noexcept { return slots_; }
  /// Slots now free.
  std::size_t free_count() const noexcept { return free_.size(); }

 private:
  static std::size_t place_fields(const Schema& schema, const RowLayout& layout, std::uint64_t rows,
                                  std::vector<std::size_t>* offsets);
  void move(Slot& slot, SlotState from, SlotState to) noexcept;
  void lay_side_by_side(Slot& slot) const noexcept;

  std::uint64_t rows_;
  RowLayout layout_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
  MemoryResource* memory_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
};

}  // namespace penstock::detail
