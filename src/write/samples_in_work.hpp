// SPDX-License-Identifier: Apache-2.0
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
  bool broken = false;      ///< the sample failed, and there was no memory for the error
  bool kept = true;         ///< false: a filter left the sample out
  std::uint64_t bytes = 0;  ///< bytes of the sample's values
  std::uint64_t held = 0;   ///< bytes that count while the sample waits
};

/// Samples being processed, oldest first, in a ring. A sample is admitted, published to the runners, begun, done, and
/// taken. Only the caller admits, publishes and takes samples. So the caller may read the bounds of the published
/// samples without the mutex.
class SamplesInWork {
 public:
  /// `entries`: the largest number of samples in the ring. A sample begins only if it is the oldest, or if finished
  /// samples that were not taken have fewer bytes than a limit. The limit is `max_bytes` while fewer than `fewest`
  /// samples are begun and not removed. Otherwise it is the smaller of `max_bytes` and `small_finished_bytes`.
  SamplesInWork(std::size_t entries, std::size_t fewest, std::size_t max_bytes);

  // -- the caller, without the mutex --
  std::size_t entries() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return admitted_ == head_; }
  bool full() const noexcept { return admitted_ - head_ == entries_.size(); }
  /// Returns whether so many entries are free that it is worth admitting samples. If samples were admitted one by one,
  /// runners would fall asleep and be woken for each sample.
  bool has_room() const noexcept;
  /// Returns how many admitted samples are not published.
  std::size_t unpublished() const noexcept { return static_cast<std::size_t>(admitted_ - tail_); }
  /// Adds a sample, which is not published yet.
  WriteEntry& admit(SinkItem item);
  /// Returns the i-th oldest sample.
  WriteEntry& operator[](std::size_t i) noexcept { return at(head_ + i); }

  // -- under the mutex --
  void publish() noexcept;
  /// Returns whether a sample can be begun. The oldest sample can always be begun, because taking it makes room.
  bool has_work() noexcept;
  /// Returns whether all published samples are begun, or were done when they were admitted. Call after `has_work`.
  bool all_begun() const noexcept { return next_ == tail_; }
  WriteEntry& begin() noexcept;
  void end(WriteEntry& entry) noexcept;
  bool is_oldest_done() const noexcept { return entries_[head_ % entries_.size()].state == WriteEntry::State::done; }
  bool is_half_done() const noexcept;
  /// Takes finished samples from the oldest on: at most `most`, and at most `max_bytes` / 16 bytes in total. The first
  /// sample may be larger. Taken samples stay until `pop`, but their bytes do not count any more. Returns their number.
  std::size_t take(std::size_t most) noexcept;
  /// Removes the oldest sample, and returns its entry.
  WriteEntry& pop() noexcept;
  /// Returns whether every published sample was taken and removed.
  bool all_taken() const noexcept { return head_ == tail_; }

 private:
  WriteEntry& at(std::uint64_t number) noexcept { return entries_[number % entries_.size()]; }
  std::size_t most_bytes() const noexcept;

  std::vector<WriteEntry> entries_;
  const std::size_t fewest_, max_bytes_;
  std::uint64_t admitted_ = 0;
  std::uint64_t head_ = 0, tail_ = 0, next_ = 0;  // oldest sample, first unpublished sample, next sample to begin
  std::uint64_t bytes_ = 0;                       // bytes of finished samples that were not taken
  std::size_t done_ = 0;
};

}  // namespace penstock::detail::runtime
