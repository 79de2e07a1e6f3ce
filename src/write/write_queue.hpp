#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "write/finished_cells.hpp"
#include "write/write.hpp"

namespace penstock::detail::runtime {

/// A sample on its way to the sink.
struct WriteEntry {
  enum class State : std::uint8_t { empty, waiting, running, done } state = State::empty;
  SinkItem item;
  std::unique_ptr<FinishedCells> values;
  std::optional<Error> error;
  bool broken = false;      ///< there was no memory to say what failed
  bool kept = true;         ///< false: filtered
  std::uint64_t bytes = 0;  ///< bytes of its values
  std::uint64_t held = 0;   ///< bytes that count while it waits
};

/// Samples in work, oldest first, in a ring: admitted, published to the runners, begun, done, taken. The caller admits
/// and takes them, and it alone changes where the published ones begin and end, which it so reads without the mutex.
class WriteQueue {
 public:
  /// So many entries. Finished ones may have `max_bytes`, but only while they are the `fewest` that are wanted in work:
  /// else no more than a small number of bytes.
  WriteQueue(std::size_t entries, std::size_t fewest, std::size_t max_bytes);

  // -- the caller, without the mutex --
  std::size_t entries() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return admitted_ == head_; }
  bool full() const noexcept { return admitted_ - head_ == entries_.size(); }
  /// Worth filling up: where single samples came and went, runners would fall asleep and be woken for each.
  bool has_room() const noexcept;
  /// How many runners can't see yet.
  std::size_t unpublished() const noexcept { return static_cast<std::size_t>(admitted_ - tail_); }
  /// After those that runners may look at.
  WriteEntry& admit(SinkItem item);
  /// The i-th oldest.
  WriteEntry& operator[](std::size_t i) noexcept { return at(head_ + i); }

  // -- under the mutex --
  void publish() noexcept;
  /// There is a sample that can be begun now: the oldest can at any time, as it is what makes room.
  bool has_work() noexcept;
  /// All that is published is begun, or was done when it came; as `has_work` last found it.
  bool all_begun() const noexcept { return next_ == tail_; }
  WriteEntry& begin() noexcept;
  void end(WriteEntry& entry) noexcept;
  bool is_oldest_done() const noexcept { return entries_[head_ % entries_.size()].state == WriteEntry::State::done; }
  bool is_half_done() const noexcept;
  /// How many from the oldest on are done, `most` at most, and few bytes: they count no longer as waiting.
  std::size_t take(std::size_t most) noexcept;
  /// The oldest goes.
  WriteEntry& pop() noexcept;
  /// Nothing waits to be taken.
  bool all_taken() const noexcept { return head_ == tail_; }

 private:
  WriteEntry& at(std::uint64_t number) noexcept { return entries_[number % entries_.size()]; }
  std::size_t most_bytes() const noexcept;

  std::vector<WriteEntry> entries_;
  const std::size_t fewest_, max_bytes_;
  std::uint64_t admitted_ = 0;
  std::uint64_t head_ = 0, tail_ = 0, next_ = 0;  // what stands before `tail_` is published
  std::uint64_t bytes_ = 0;                       // what finished samples hold
  std::size_t done_ = 0;
};

}  // namespace penstock::detail::runtime
