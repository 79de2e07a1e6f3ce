#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <penstock/device.hpp>
#include <penstock/memory.hpp>
#include <penstock/schema.hpp>

#include "base/trace.hpp"
#include "data/batch_arena.hpp"
#include "data/cursor.hpp"
#include "ring/batch_info.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// A batch is in one of these states; the only ways are free → filling → ready → leased → free, and filling or ready →
/// free when what is unread is given up.
enum class BufferState : std::uint8_t { free, filling, ready, leased };

/// One batch's memory and what is known about it.
struct BatchBuffer : BatchInfo {
  BatchBuffer(MemoryResource& memory, std::size_t limit) : arena(memory, limit) {}
  bool ready() const noexcept { return state.load(std::memory_order_seq_cst) == BufferState::ready; }
  std::byte* data = nullptr;
  TraceLine* trace = nullptr;  ///< line of a timeline that shows its states; null: none is kept
  std::atomic<BufferState> state{BufferState::free};
  std::size_t place = 0;                   ///< its number in the ring
  bool prepared = false;                   ///< it has room for what is known of a batch; the growing thread's
  bool discarded = false;                  ///< goes back to free when it is done
  std::vector<RowPlace> places;            ///< place of each row, where the engine keeps them
  std::mutex bad_mutex;                    ///< guards `bad`, `unlisted` and `replaced` while it is filled
  std::atomic<std::uint64_t> ready_ns{0};  ///< when it became ready; 0: it is not
  /// A row could not even be reported bad. Relaxed: the runner that sets it then counts its part off `left`
  /// (release), and the one that counts the last part off reads it (acquire).
  std::atomic<bool> broken{false};
  BatchArena arena;
  std::mutex overflow_mutex;  ///< guards `overflow` while it is filled
  alignas(64) std::atomic<std::uint32_t> left{0};
};

/// The ring of batches. `acquire` and `release` under the caller's lock; `address` and `finish` from any thread.
///
/// It has room for `most` batches, and memory for `depth` of them, all of it allocated in the constructor.
/// `prepare_to_grow` brings memory for more, `trim` takes it away again.
class BatchRing {
 public:
  /// `append_limit`: bytes of one buffer for fields of any size, which lie in `append_memory`; null: in `memory`.
  /// `most`: no fewer than `depth`; 0 = as many.
  BatchRing(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
            std::size_t append_limit = ~std::size_t{0}, MemoryResource* append_memory = nullptr, std::size_t most = 0);
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;
  ~BatchRing();

  /// Its buffers' states stand in the timeline from now on. Before any is acquired. @throws std::bad_alloc.
  void show(Trace& trace);

  /// Batches that there are now. Those beyond it that are in use may still be some. Any thread.
  std::size_t depth() const noexcept { return depth_.load(std::memory_order_relaxed); }
  std::size_t most() const noexcept { return buffers_.size(); }
  const BatchLayout& layout() const noexcept { return layout_; }
  /// Blocks of memory for batches, but those of fields of any size.
  std::size_t allocations() const noexcept { return (data_ != nullptr ? 1 : 0) + grown_; }
  /// The most that fields of any size needed in one buffer.
  std::size_t appended_bytes() const noexcept;

  /// A free buffer, now filling, or null. Its arena is still to be reset, without the lock: that calls a user's
  /// resource.
  BatchBuffer* acquire() noexcept;
  std::byte* address(const BatchBuffer& buffer, std::size_t field, std::uint64_t row) const noexcept {
    return layout_.address(buffer.data, field, row);
  }
  /// Zeros, padding, nothing.
  void clear_row(BatchBuffer& buffer, std::uint64_t row) const noexcept;
  /// Call where `append` failed, inside the catch block.
  static void note_overflow(BatchBuffer& buffer) noexcept;
  /// What became of a buffer when some of its parts were done: there are more; it is ready; it is not wanted, and the
  /// caller's to release.
  enum class Finished : std::uint8_t { no, ready, discarded };
  Finished finish(BatchBuffer& buffer, std::uint32_t parts) noexcept;
  void lease(BatchBuffer& buffer) noexcept;
  /// Back to free, from any state.
  void release(BatchBuffer& buffer) noexcept;
  /// As many as there may be; those beyond `depth` are never acquired.
  std::span<const std::unique_ptr<BatchBuffer>> all() const noexcept { return buffers_; }
  /// How many are free now.
  std::size_t free_count() const noexcept { return free_.size(); }

  // -- one thread, which alone grows and shrinks it --
  /// Memory for batches up to so many in all, at most `most`. Without the lock. @throws what the resource throws; what
  /// it gave before is kept for the next time.
  void prepare_to_grow(std::size_t depth);
  /// That many batches from now on, for which there is memory. Under the lock. Of fewer than now, those that are in use
  /// stay until they are released.
  void set_depth(std::size_t depth) noexcept;
  /// Frees the memory of batches beyond `depth` that nobody uses any more. False: some are still in use. Without the
  /// lock, but `mutex` is that lock's.
  bool trim(std::mutex& mutex) noexcept;

 private:
  void move(BatchBuffer& buffer, BufferState from, BufferState to) noexcept;
  void lay_side_by_side(BatchBuffer& buffer) const noexcept;
  void free_data(BatchBuffer& buffer) noexcept;

  BatchLayout layout_;
  MemoryResource* memory_;
  std::byte* data_ = nullptr;  ///< memory of the first buffers
  const std::size_t first_depth_;
  std::atomic<std::size_t> depth_;  ///< changed under the lock
  std::vector<std::unique_ptr<BatchBuffer>> buffers_;
  std::vector<BatchBuffer*> free_;     ///< buffers below `depth()`
  std::atomic<std::size_t> grown_{0};  ///< how often memory was taken later; any thread reads it
};

}  // namespace penstock::detail::runtime
