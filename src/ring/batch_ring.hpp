// SPDX-License-Identifier: Apache-2.0
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

/// State of a batch buffer. The only changes are free → filling → ready → leased → free; and filling or ready → free
/// when unread batches are given up.
enum class BufferState : std::uint8_t { free, filling, ready, leased };

/// One batch's memory and what is known about it.
struct BatchBuffer : BatchInfo {
  BatchBuffer(MemoryResource& memory, std::size_t limit) : arena(memory, limit) {}
  bool ready() const noexcept { return state.load(std::memory_order_seq_cst) == BufferState::ready; }
  std::byte* data = nullptr;
  TraceLine* trace = nullptr;  ///< line of a timeline that shows its states; null: no timeline is kept
  std::atomic<BufferState> state{BufferState::free};
  std::size_t place = 0;                   ///< its number in the ring
  bool prepared = false;                   ///< it has room for the notes about a batch; only the growing thread reads
                                           ///< and sets it
  bool discarded = false;                  ///< goes back to free when all its parts are done
  std::vector<RowPlace> places;            ///< place of each row, if the engine keeps places
  std::mutex bad_mutex;                    ///< guards `bad`, `unlisted` and `replaced` while the buffer is filled
  std::atomic<std::uint64_t> ready_ns{0};  ///< when it became ready; 0: it is not ready
  /// A row could not even be reported bad. Relaxed: the runner that sets it then counts its part off `left`
  /// (release), and the one that counts the last part off reads it (acquire).
  std::atomic<bool> broken{false};
  BatchArena arena;
  std::mutex overflow_mutex;  ///< guards `overflow` while the buffer is filled
  alignas(64) std::atomic<std::uint32_t> left{0};
};

/// The ring of batches. Call `acquire` and `release` under the caller's lock, `address` and `finish` from any thread.
///
/// It has room for `most` batches and memory for `depth` of them, which the constructor allocates. `prepare_to_grow`
/// allocates memory for more batches; `trim` frees it again.
class BatchRing {
 public:
  /// `append_limit`: bytes of one buffer for fields of any size. `append_memory`: memory of these fields; null:
  /// `memory`. `most`: at least `depth`; 0 = `depth`.
  BatchRing(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
            std::size_t append_limit = ~std::size_t{0}, MemoryResource* append_memory = nullptr, std::size_t most = 0);
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;
  ~BatchRing();

  /// Shows the states of its buffers in the timeline. Call before the first `acquire`. @throws std::bad_alloc.
  void show(Trace& trace);

  /// Returns the present number of batches. Buffers beyond it may still be in use. Any thread.
  std::size_t depth() const noexcept { return depth_.load(std::memory_order_relaxed); }
  std::size_t most() const noexcept { return buffers_.size(); }
  const BatchLayout& layout() const noexcept { return layout_; }
  /// Returns how often memory for batches was allocated, without the memory of fields of any size.
  std::size_t allocations() const noexcept { return (data_ != nullptr ? 1 : 0) + grown_; }
  /// Returns the most bytes that fields of any size needed in one buffer.
  std::size_t appended_bytes() const noexcept;

  /// Returns a free buffer, which is then filling; or null. The caller resets its arena after it releases the lock,
  /// because that calls a user's resource.
  BatchBuffer* acquire() noexcept;
  std::byte* address(const BatchBuffer& buffer, std::size_t field, std::uint64_t row) const noexcept {
    return layout_.address(buffer.data, field, row);
  }
  /// Sets the row to zeros: padding.
  void clear_row(BatchBuffer& buffer, std::uint64_t row) const noexcept;
  /// Call inside the catch block if `append` failed.
  static void note_overflow(BatchBuffer& buffer) noexcept;
  /// State of a buffer after some of its parts were done: other parts remain; it is ready; or it is not wanted, and the
  /// caller releases it.
  enum class Finished : std::uint8_t { no, ready, discarded };
  Finished finish(BatchBuffer& buffer, std::uint32_t parts) noexcept;
  void lease(BatchBuffer& buffer) noexcept;
  /// Frees the buffer, from any state.
  void release(BatchBuffer& buffer) noexcept;
  /// Returns all `most` buffers; those beyond `depth` are never acquired.
  std::span<const std::unique_ptr<BatchBuffer>> all() const noexcept { return buffers_; }
  /// Returns how many buffers are free.
  std::size_t free_count() const noexcept { return free_.size(); }

  // -- one thread: the only one that grows and shrinks the ring --
  /// Allocates memory for `depth` batches in all, at most `most`. Call without the lock. @throws what the resource
  /// throws; memory that was allocated before is kept for the next call.
  void prepare_to_grow(std::size_t depth);
  /// Sets the number of batches; their memory must be there. Call under the lock. If there are fewer than before,
  /// buffers in use stay until they are released.
  void set_depth(std::size_t depth) noexcept;
  /// Frees the memory of unused batches beyond `depth`. Returns false if some of them are still in use. Call without
  /// the lock; `mutex` is the lock's mutex.
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
  std::atomic<std::size_t> grown_{0};  ///< how often memory was allocated later; any thread reads it
};

}  // namespace penstock::detail::runtime
