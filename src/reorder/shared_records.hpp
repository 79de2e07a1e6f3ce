// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/state.hpp>

#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "pipeline/outcome.hpp"

namespace penstock::detail::runtime {

/// One position, and what its samples share: a stream's record, or the parent of a flat_map's children. Belongs to the
/// runner that issues it, then to the runner that opens it until `opened`. Then all its samples read it; the last of
/// them vacates it.
struct SharedRecord {
  std::unique_ptr<ChainRun> run;  ///< holds the values; created on first use
  std::uint64_t epoch = 0, position = 0;
  std::uint64_t index = 0;
  Cursor at;                ///< where the record is; not set for a stream
  std::uint32_t count = 0;  ///< how many samples it has, once it is made
  bool end = false;         ///< not a record but the epoch's end
  bool terminates = false;  ///< an end, or a stream's failure: nothing is shuffled across it
  bool last = false;        ///< the epoch ends after it
  bool broken = false;
  Outcome outcome;
  std::vector<bool> skipped;           ///< true for each of its samples that is skipped; empty: none is
  std::atomic<std::uint32_t> left{0};  ///< samples that are not made yet
  std::atomic<bool> asks{false};       ///< it will be opened once the skips are decided
  std::atomic<bool> opened{false};
  std::atomic<bool> vacant{true};
};

/// Decides which of a record's samples are skipped, before any is made: sets `skipped`, or `outcome.fatal`. Called on
/// the consumer's thread, for one record after the other.
class RecordSkips {
 public:
  virtual ~RecordSkips() = default;
  virtual void choose(SharedRecord& record) noexcept = 0;
};

/// The ring of shared records. Record n, counted from 0, is at n % size.
class SharedRecords {
 public:
  explicit SharedRecords(std::size_t count) : shared_records_(count) {}

  std::size_t size() const noexcept { return shared_records_.size(); }
  SharedRecord& at(std::uint64_t number) noexcept { return shared_records_[number % shared_records_.size()]; }
  /// Call only while nothing is being processed.
  void reset() noexcept {
    for (SharedRecord& record : shared_records_) {
      record.opened.store(false, std::memory_order_relaxed);
      record.asks.store(false, std::memory_order_relaxed);
      record.vacant.store(true, std::memory_order_relaxed);
    }
  }
  /// Takes a vacant record for a position.
  SharedRecord& take(std::uint64_t number) noexcept {
    SharedRecord& record = at(number);
    record.vacant.store(false, std::memory_order_relaxed);
    record.opened.store(false, std::memory_order_relaxed);
    record.end = record.terminates = record.last = record.broken = false;
    record.asks.store(false, std::memory_order_relaxed);
    record.count = 0;
    record.skipped.clear();
    record.outcome = {};
    return record;
  }

 private:
  std::vector<SharedRecord> shared_records_;
};

}  // namespace penstock::detail::runtime
