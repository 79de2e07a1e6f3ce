#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>

#include "data/cursor.hpp"
#include "pipeline/positions.hpp"
#include "reorder/issue_progress.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/shared_records.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Positions of an order become entries, or the records that their samples share. One runner at a time, the one that
/// entered the intake, but as said.
class PositionIssuer {
 public:
  /// `records`: null where samples share none. These outlive it.
  PositionIssuer(const RunSetup& setup, IssueProgress& intake, ReorderBuffer& buffer, SharedRecords* records);

  /// Only while nothing is in work.
  void reset(const Cursor& cursor);
  /// There is room for as many as are issued at once. Any thread.
  bool can_issue() noexcept;

  struct Issued {
    std::uint64_t first = 0, count = 0;
    std::span<const std::uint64_t> indices;  ///< source indices of the positions before one at which the order failed
    std::uint64_t pass = 0;
  };
  /// Issues as many as there is room for. None where nothing more comes.
  Issued issue() noexcept;

 private:
  bool vacant(std::uint64_t number) noexcept;
  std::uint64_t fill(std::uint64_t count, std::optional<Error>& error) noexcept;
  void set_up_record(SharedRecord& record, std::uint64_t i);
  void set_up_entry(ReorderEntry& entry, std::uint64_t i);
  void fail(std::uint64_t number, std::optional<Error> error) noexcept;
  void want() noexcept;

  const std::uint64_t epochs_;
  IssueProgress& issue_progress_;
  ReorderBuffer& buffer_;
  SharedRecords* const records_;
  Positions positions_;
  const std::uint64_t chunk_;             // positions that are issued at once
  std::vector<std::uint64_t> indices_;    // source indices of the positions that are issued at once
  std::atomic<std::uint64_t> wanted_{1};  // how many are asked for: a chunk, or what the epoch still has
};

}  // namespace penstock::detail::runtime
