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
#include <penstock/state.hpp>

#include "base/trace.hpp"
#include "data/batch_arena.hpp"
#include "data/cursor.hpp"
#include "ring/batch_info.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

class BatchStages;

/// State of a batch buffer. The states follow each other in this order: free, filling, ready, leased, free. A batch
/// that is not delivered changes from filling or ready to free.
enum class BufferState : std::uint8_t { free, filling, ready, leased };

/// One batch's memory and what is known about it.
struct BatchBuffer : BatchInfo {
  BatchBuffer(MemoryResource& memory, std::size_t limit) : arena(memory, limit) {}
  bool ready() const noexcept { return state.load(std::memory_order_seq_cst) == BufferState::ready; }
  std::byte* data = nullptr;
  TraceLine* trace = nullptr;  ///< line of the timeline that shows the buffer's states; null: no timeline is kept
  std::atomic<BufferState> state{BufferState::free};
  std::size_t place = 0;  ///< the buffer's number in the ring
  /// The vectors of BatchInfo have room for all rows. Only the thread that grows the ring reads and sets this.
  bool prepared = false;
  bool discarded = false;        ///< the batch is not wanted, so the buffer becomes free when all its parts are done
  bool mapped = false;           ///< `map_batches` of the caller's thread ran; only the consumer uses this
  std::vector<RowPlace> places;  ///< place of each row, if the engine keeps places
  /// Place of each row's draws, if the pipeline is reordered and has `map_batches`; otherwise empty.
  std::vector<Place> draw_places;
  std::mutex bad_mutex;                    ///< guards `bad`, `unlisted` and `replaced` while the buffer is filled
  std::atomic<std::uint64_t> ready_ns{0};  ///< when the buffer became ready; 0: it is not ready
  /// Memory ran out, so that a bad row or `overflow` could not even be reported. All accesses are relaxed, because
  /// `left` orders them. A runner sets `broken` before it subtracts its part from `left` (release). The runner that
  /// subtracts the last part (acquire) then reads `broken`.
  std::atomic<bool> broken{false};
  BatchArena arena;
  std::mutex overflow_mutex;  ///< guards `overflow` while the buffer is filled
  alignas(64) std::atomic<std::uint32_t> left{0};
};

/// The ring of batches. Call `acquire` and `release` under one lock of the caller. Any thread may call `address` and
/// `finish`.
///
/// The ring has `most` buffers. The constructor allocates memory for the first `depth` buffers. `prepare_to_grow`
/// allocates memory for more buffers, and `trim` frees that memory.
class BatchRing {
 public:
  /// `append_limit`: most bytes in one buffer for fields whose rows differ in size. `append_memory`: the resource for
  /// these fields; null: `memory`. `most`: number of buffers; a number below `depth` means `depth`.
  BatchRing(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
            std::size_t append_limit = ~std::size_t{0}, MemoryResource* append_memory = nullptr, std::size_t most = 0);
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;
  ~BatchRing();

  /// Sets what `publish` runs on each batch. Call before the first `acquire`. `stages` must outlive the ring's use.
  void set_stages(BatchStages* stages) noexcept { stages_ = stages; }
  /// Returns whether `publish` runs stages. Then the caller must hold nothing that other threads wait for.
  bool runs_stages() const noexcept { return stages_ != nullptr; }
  /// Shows the states of the buffers in the timeline. Call before the first `acquire`. @throws std::bad_alloc.
  void show(Trace& trace);

  /// Returns the present number of batches. Buffers with higher numbers may still be in use. Any thread may call this.
  std::size_t depth() const noexcept { return depth_.load(std::memory_order_relaxed); }
  std::size_t most() const noexcept { return buffers_.size(); }
  const BatchLayout& layout() const noexcept { return layout_; }
  /// Returns how often memory for batches was allocated. Memory for fields whose rows differ in size is not counted.
  std::size_t allocations() const noexcept { return (data_ != nullptr ? 1 : 0) + grown_; }
  /// Returns the most bytes that one buffer needed for fields whose rows differ in size.
  std::size_t appended_bytes() const noexcept;

  /// Returns a free buffer and sets its state to filling, or returns null if none is free. The caller resets the
  /// buffer's arena after it releases the lock, because the reset calls a user's resource.
  BatchBuffer* acquire() noexcept;
  std::byte* address(const BatchBuffer& buffer, std::size_t field, std::uint64_t row) const noexcept {
    return layout_.address(buffer.data, field, row);
  }
  /// Fills the row with padding.
  void clear_row(BatchBuffer& buffer, std::uint64_t row) const noexcept { layout_.clear_row(buffer, buffer.data, row); }
  /// Pads the rows of fields that are as long as the batch's longest row. Call when the batch is complete.
  static void lay_side_by_side(BatchBuffer& buffer, const BatchLayout& layout) noexcept;
  /// Notes the exception in flight as the buffer's `overflow`, if the buffer has none yet. Call inside a catch block if
  /// `append` failed.
  static void note_overflow(BatchBuffer& buffer) noexcept;
  /// State of a buffer after some of its parts were done. `no`: other parts remain. `ready`: all parts are done.
  /// `discarded`: all parts are done, but the batch is not wanted, so the caller must release the buffer.
  enum class FinishResult : std::uint8_t { no, ready, discarded };
  FinishResult finish(BatchBuffer& buffer, std::uint32_t parts) noexcept {
    return count_down(buffer, parts) ? publish(buffer) : FinishResult::no;
  }
  /// Notes that `parts` more parts are done. Returns true if they were the last ones. Then the caller must call
  /// `publish`.
  static bool count_down(BatchBuffer& buffer, std::uint32_t parts) noexcept {
    return buffer.left.fetch_sub(parts, std::memory_order_acq_rel) == parts;
  }
  /// Completes a batch whose parts are all done, and makes it ready. See `runs_stages`.
  FinishResult publish(BatchBuffer& buffer) noexcept;
  void lease(BatchBuffer& buffer) noexcept;
  /// Sets the buffer's state to free, whatever other state it has.
  void release(BatchBuffer& buffer) noexcept;
  /// Returns all `most` buffers, also buffers beyond `depth`, which `acquire` never returns.
  std::span<const std::unique_ptr<BatchBuffer>> all() const noexcept { return buffers_; }
  /// Returns how many buffers are free.
  std::size_t free_count() const noexcept { return free_.size(); }

  // -- for one thread, which grows and shrinks the ring --
  /// Allocates memory for those of the first `depth` buffers that have none. A `depth` above `most()` means `most()`.
  /// Call without the lock. @throws whatever the resource throws. Memory that was allocated before the exception is
  /// kept for the next call.
  void prepare_to_grow(std::size_t depth);
  /// Sets the number of batches, limited to the range from the constructor's `depth` to `most()`. `prepare_to_grow`
  /// must have allocated their memory. Call under the lock. If the number falls, buffers in use stay in use until they
  /// are released.
  void set_depth(std::size_t depth) noexcept;
  /// Frees the memory of unused buffers beyond `depth`. Returns false if a buffer beyond `depth` is still in use. Call
  /// without the lock; `mutex` is the lock's mutex.
  bool trim(std::mutex& mutex) noexcept;

 private:
  void move(BatchBuffer& buffer, BufferState from, BufferState to) noexcept;
  void free_data(BatchBuffer& buffer) noexcept;

  BatchLayout layout_;
  MemoryResource* memory_;
  BatchStages* stages_ = nullptr;
  std::byte* data_ = nullptr;  ///< memory of the first `first_depth_` buffers
  const std::size_t first_depth_;
  std::atomic<std::size_t> depth_;  ///< changed under the lock
  std::vector<std::unique_ptr<BatchBuffer>> buffers_;
  std::vector<BatchBuffer*> free_;     ///< free buffers with numbers below `depth()`
  std::atomic<std::size_t> grown_{0};  ///< how often memory was allocated after construction; any thread reads this
};

}  // namespace penstock::detail::runtime
