// SPDX-License-Identifier: Apache-2.0
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

/// Turns the positions of an order into entries or, if samples share records, into shared records. Only the runner that
/// entered the IssueProgress may call the functions, except functions with the remark "any thread".
class PositionIssuer {
 public:
  /// `records`: null if samples share no records. The arguments must outlive this object.
  PositionIssuer(const RunSetup& setup, IssueProgress& intake, ReorderBuffer& buffer, SharedRecords* records);

  /// Starts at `cursor`. Call only while no runner works.
  void reset(const Cursor& cursor);
  /// Returns whether there is room for the next chunk of positions. Any thread.
  bool can_issue() noexcept;

  struct Issued {
    std::uint64_t first = 0, count = 0;
    /// Source indices of the issued positions. If the order failed, only those before the failure.
    std::span<const std::uint64_t> indices;
    std::uint64_t pass = 0;
  };
  /// Issues the next positions for which there is room, at most a chunk. Returns no positions if there is no room,
  /// or at the end of the run.
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
  const std::uint64_t chunk_;             // the most positions that are issued together
  std::vector<std::uint64_t> indices_;    // source indices of the positions that are issued together
  std::atomic<std::uint64_t> wanted_{1};  // positions to issue next: `chunk_`, or `positions_.left()` if that is less
};

}  // namespace penstock::detail::runtime
