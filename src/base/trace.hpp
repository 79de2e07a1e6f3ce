// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace penstock::detail {

/// A line of a timeline: what one runner, one batch buffer, or another party of a run did recently. Keeps only the
/// latest slices. The names of slices must live as long as the line. Any thread may use the line.
class TraceLine {
 public:
  static constexpr std::uint64_t no_number = ~std::uint64_t{0};
  struct Slice {
    const char* name;
    std::uint64_t begin_ns, end_ns;
    std::uint64_t number;  ///< index of a record, or number of a batch or block, or `no_number`
  };

  TraceLine(std::string name, std::size_t most_slices);
  void add(const Slice& slice) noexcept;
  /// Ends the line's current state, and begins the state `name` with the number `begun`. If `name` is null, no state
  /// begins. If the state that ends was begun without a number, `ended` becomes its number.
  void turn_to(const char* name, std::uint64_t ended, std::uint64_t begun = no_number) noexcept;

  const std::string& name() const noexcept { return name_; }
  /// Returns the slices in the order in which they ended. The current state, if there is one, is the last slice and
  /// ends now.
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

/// The timeline of a run: its lines. Any thread may use it.
class Trace {
 public:
  /// `most_slices`: the number of slices that each line keeps.
  explicit Trace(std::size_t most_slices) : most_slices_(most_slices) {}

  /// Adds a line, which lives as long as the trace. @throws std::bad_alloc.
  TraceLine& line(const std::string& name);
  /// Like `line`, but appends a number to the name. Lines with the same name are numbered from 1.
  TraceLine& next_line(const std::string& name);
  /// Returns the bytes of memory that all lines take.
  std::size_t bytes() const;
  /// Writes the timeline to `file` in Chrome's trace-event format, which Perfetto reads too. Each line becomes a
  /// thread, and each slice a complete event.
  /// @throws Error(io); Error(not_found) if the file's folder doesn't exist.
  void write(const std::string& file) const;

 private:
  std::vector<const TraceLine*> all() const;
  const std::size_t most_slices_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TraceLine>> lines_;
};

/// Adds a slice to `line` that begins when this object is constructed and ends when it is destroyed. Does nothing if
/// `line` is null.
class TracedRange {
 public:
  TracedRange(TraceLine* line, const char* name, std::uint64_t number = TraceLine::no_number) noexcept
      : line_(line), name_(name), number_(number), begin_ns_(line != nullptr ? now_ns() : 0) {}
  ~TracedRange() {
    if (line_ != nullptr) line_->add({name_, begin_ns_, now_ns(), number_});
  }
  TracedRange(const TracedRange&) = delete;
  TracedRange& operator=(const TracedRange&) = delete;

 private:
  TraceLine* const line_;
  const char* const name_;
  const std::uint64_t number_, begin_ns_;
};

}  // namespace penstock::detail
