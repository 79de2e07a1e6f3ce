// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <penstock/detail/sink_model.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/write.hpp>

#include "base/core_time.hpp"
#include "base/executor_impl.hpp"
#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "engine/run_totals.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

/// Names samples for a sink. One thread at a time.
class WriteItems {
 public:
  explicit WriteItems(const PipelineData& data) : data_(&data) {}
  /// Returns the item of a position that is a sample, without its key. @throws what the order throws, as an Error that
  /// names the order.
  SinkItem at_position(std::uint64_t position) const;
  /// @throws what the source throws, as an Error that names it.
  void name(SinkItem& item) const { item.key = key_of(item.index); }
  /// Returns the item of a sample of record `index`, valid until the next call. @throws what the source throws, as an
  /// Error that names it.
  const SinkItem& at(const RowPlace& place, std::uint64_t index);

 private:
  std::string key_of(std::uint64_t index) const;

  const PipelineData* data_;
  SinkItem item_;
  std::size_t record_bytes_ = 0;  // the bytes at the beginning of the key that are its record's key
  bool begun_ = false;
};

/// One run of `write`: its sink and its progress. The caller's thread only.
class WriteRun {
 public:
  WriteRun(const PipelineData& data, SinkModel& sink, const WriteOptions& options);

  const WriteOptions& options() const noexcept { return options_; }
  /// Each of these throws an Error of the sink, which names the sample if it is about one.
  void work_on(const SinkThreads& threads);
  void open();
  bool has_some();
  bool has(const SinkItem& item);
  void put(const SinkItem& item, Sample& sample, std::uint64_t bytes);
  void commit();
  /// Commits if enough was put since the last commit.
  void commit_if_due();
  void finish();
  /// Takes the counts of everything made so far; the report is made from them.
  void take_counts(const Chain& chain, const RunTotals& totals, std::uint64_t waited_ns);
  /// Excludes time from the measurement: the time of finding out which samples exist, in which none was made.
  void add_untimed(std::uint64_t ns) noexcept { passed_over_ns_ += ns; }
  /// Calls the caller's `report`, if there is one.
  void report();
  /// Returns whether storing failed, so that nothing put after the last commit may be committed.
  bool failed_to_store() const noexcept { return storing_; }

  WriteProgress progress;

 private:
  const PipelineData& data_;
  SinkModel& sink_;
  const WriteOptions& options_;
  const std::string stage_;
  std::uint64_t uncommitted_ = 0, uncommitted_bytes_ = 0;
  const std::uint64_t begun_ns_;
  std::uint64_t commit_ns_ = 0, passed_over_ns_ = 0;
  std::optional<CoreTime> cores_begun_;
  Report report_;
  bool storing_ = false;  // true while in the sink, and after an exception left it
};

/// Writes all samples that are not in the sink. Returns false if it was stopped and some are left. Both functions open
/// the sink as soon as only samples can fail.
bool write_samples(WriteRun& run, const std::shared_ptr<const PipelineData>& data, Executor::Impl& executor,
                   unsigned threads);
bool write_reordered(WriteRun& run, const std::shared_ptr<const PipelineData>& data, Executor::Impl& executor,
                     unsigned threads);

}  // namespace penstock::detail::runtime
