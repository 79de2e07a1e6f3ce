#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace penstock::detail {

/// A line of a timeline: what one runner, slot of a batch, or other thread of a run did lately. Only the latest slices
/// are kept. Names live as long as the lane. Any thread.
class TraceLine {
 public:
  static constexpr std::uint64_t no_number = ~std::uint64_t{0};
  struct Slice {
    const char* name;
    std::uint64_t begin_ns, end_ns;
    std::uint64_t number;  ///< index of a record, number of a batch or block; or `no_number`
  };

  TraceLine(std::string name, std::size_t most_slices);
  void add(const Slice& slice) noexcept;
  /// For a lane that is always in one state: that which it is in ends, with `ended` for its number where it was begun
  /// without one, and `name` begins; null: none.
  void turn_to(const char* name, std::uint64_t ended, std::uint64_t begun = no_number) noexcept;

  const std::string& name() const noexcept { return name_; }
  /// In the order in which they ended, with the state that it is in up to now.
  std::vector<Slice> slices() const;
  std::size_t bytes() const noexcept { return ring_.size() * sizeof(Slice); }

 private:
  void put(const Slice& slice) noexcept;

  const std::string name_;
  mutable std::mutex mutex_;
  std::vector<Slice> ring_;
  std::uint64_t added_ = 0;
  Slice state_{nullptr, 0, 0, no_number};
};

/// The timeline of a run. Any thread.
class Trace {
 public:
  /// `most_slices`: that each lane keeps.
  explicit Trace(std::size_t most_slices) : most_slices_(most_slices) {}

  /// A new lane, which lives as long as the trace. @throws std::bad_alloc.
  TraceLine& lane(const std::string& name);
  /// Likewise one of several, which are numbered from 1.
  TraceLine& next_lane(const std::string& name);
  /// Bytes of all lanes.
  std::size_t bytes() const;
  /// Writes Chrome's trace-event format, which Perfetto reads too: a thread for each lane, and complete events.
  /// @throws Error(io).
  void write(const std::string& file) const;

 private:
  std::vector<const TraceLine*> all() const;
  const std::size_t most_slices_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TraceLine>> lanes_;
};

/// A slice from its construction to its end; nothing where `lane` is null.
class TracedRange {
 public:
  TracedRange(TraceLine* lane, const char* name, std::uint64_t number = TraceLine::no_number) noexcept
      : lane_(lane), name_(name), number_(number), begin_ns_(lane != nullptr ? now_ns() : 0) {}
  ~TracedRange() {
    if (lane_ != nullptr) lane_->add({name_, begin_ns_, now_ns(), number_});
  }
  TracedRange(const TracedRange&) = delete;
  TracedRange& operator=(const TracedRange&) = delete;

 private:
  TraceLine* const lane_;
  const char* const name_;
  const std::uint64_t number_, begin_ns_;
};

}  // namespace penstock::detail
