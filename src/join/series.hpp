// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/windows.hpp>

namespace penstock::detail {

/// The series of a source, and the windows of each series. Consecutive rows with the same value of `group_by` are one
/// series. If `group_by` is empty, all rows are one series. No window has rows of two series. Immutable.
class Series {
 public:
  Series() = default;
  /// Reads the values of the field `group_by` from `source`, unless `group_by` is empty. @throws what the source
  /// throws, as an error of the stage "windows".
  Series(const SourceModel& source, const WindowOptions& options);

  std::uint64_t windows() const noexcept { return windows_; }
  /// Returns the first row of a window. REQUIRES: `window` is below `windows()`.
  std::uint64_t first_row(std::uint64_t window) const;
  /// Returns the number of windows whose first row is below `row`.
  std::uint64_t windows_before(std::uint64_t row) const;
  /// Returns a hash of the positions of all windows.
  std::uint64_t hash() const;
  /// Returns the groups of the windows. Consecutive windows with the same value of `group_by` are one group. REQUIRES:
  /// `group_by` is not empty.
  std::vector<Group> groups(const SourceModel& source) const;
  /// Returns notes about the numbers of windows, and of rows that are in no window.
  std::vector<std::string> notes() const;

 private:
  struct Run {
    std::uint64_t row, window;  ///< first row and first window of a series
  };
  void add(std::uint64_t first, std::uint64_t end);

  std::uint64_t length_ = 1, stride_ = 1;
  std::vector<Run> runs_;  ///< the series that have windows
  std::uint64_t rows_ = 0, windows_ = 0;
  std::uint64_t series_ = 0, short_series_ = 0, short_rows_ = 0, tail_rows_ = 0;
  std::string group_by_;
};

}  // namespace penstock::detail
