#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/windows.hpp>

namespace penstock::detail {

/// Runs of rows that windows may not leave, and where the windows lie in them. Immutable.
class Series {
 public:
  Series() = default;
  /// Gets the values of `group_by`. @throws what getting them throws, as of the stage "windows".
  Series(const SourceModel& source, const WindowOptions& options);

  std::uint64_t windows() const noexcept { return windows_; }
  /// `window` must be below `windows()`.
  std::uint64_t first_row(std::uint64_t window) const;
  /// Windows whose first row is below `row`.
  std::uint64_t windows_before(std::uint64_t row) const;
  /// The hash of where each window lies.
  std::uint64_t hash() const;
  /// Runs of windows by the value of `group_by`, which must be a field: groups of them.
  std::vector<Group> groups(const SourceModel& source) const;
  /// For `SourceModel::notes`.
  std::vector<std::string> notes() const;

 private:
  struct Run {
    std::uint64_t row, window;  ///< its first ones
  };
  void add(std::uint64_t first, std::uint64_t end);

  std::uint64_t length_ = 1, stride_ = 1;
  std::vector<Run> runs_;  ///< runs that have windows
  std::uint64_t rows_ = 0, windows_ = 0;
  std::uint64_t series_ = 0, short_series_ = 0, short_rows_ = 0, tail_rows_ = 0;
  std::string group_by_;
};

}  // namespace penstock::detail
