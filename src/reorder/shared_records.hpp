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

/// A record of which several samples are made: a stream's record, or the parent of a flat_map's children. It belongs
/// first to the runner that issues it, and then to the runner that opens it. After `opened`, its samples read it. The
/// last sample vacates it.
struct SharedRecord {
  std::unique_ptr<ChainRun> run;  ///< holds the record's values; created on first use
  std::uint64_t epoch = 0, position = 0;
  std::uint64_t index = 0;
  Cursor at;                ///< cursor at the record; not set for a stream
  std::uint32_t count = 0;  ///< how many samples are made of the record; set when it is opened
  bool end = false;         ///< not a record but the end of a stream's epoch
  bool terminates = false;  ///< an epoch's end or a stream's fatal failure, at which a run of shuffled records ends
  bool last = false;        ///< the epoch ends after the record
  bool broken = false;
  Outcome outcome;
  std::vector<bool> skipped;  ///< for each sample of the record: whether it is skipped; empty: no sample is skipped
  std::atomic<std::uint32_t> left{0};  ///< samples of the record that are not made yet
  std::atomic<bool> asks{false};       ///< the record waits until the consumer has decided its skips
  std::atomic<bool> opened{false};
  std::atomic<bool> vacant{true};
};

/// Decides which samples of a record are skipped, before any of them is made. `choose` sets `skipped`, or
/// `outcome.fatal` on failure. The consumer's thread calls it for one record after the other.
class RecordSkips {
 public:
  virtual ~RecordSkips() = default;
  virtual void choose(SharedRecord& record) noexcept = 0;
};

/// The ring of shared records. Record n, counted from 0, is element n % size.
class SharedRecords {
 public:
  explicit SharedRecords(std::size_t count) : shared_records_(count) {}

  std::size_t size() const noexcept { return shared_records_.size(); }
  SharedRecord& at(std::uint64_t number) noexcept { return shared_records_[number % shared_records_.size()]; }
  /// Vacates all records. Call only while no runner works.
  void reset() noexcept {
    for (SharedRecord& record : shared_records_) {
      record.opened.store(false, std::memory_order_relaxed);
      record.asks.store(false, std::memory_order_relaxed);
      record.vacant.store(true, std::memory_order_relaxed);
    }
  }
  /// Takes the vacant element of record `number`.
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
