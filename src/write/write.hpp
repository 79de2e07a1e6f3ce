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
#include "report/fetched_so_far.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

/// Makes the items by which a sink knows samples. One thread at a time may use it.
class WriteItems {
 public:
  explicit WriteItems(const PipelineData& data) : data_(&data) {}
  /// Returns the item of a position that becomes one sample. The item has no key yet. @throws whatever the order
  /// throws, as an Error that names the order.
  SinkItem at_position(std::uint64_t position) const;
  /// Sets the item's key. @throws whatever the source throws, as an Error that names the source.
  void name(SinkItem& item) const { item.key = key_of(item.index); }
  /// Returns the item of a sample of record `index`. The item is valid until the next call. @throws whatever the source
  /// throws, as an Error that names the source.
  const SinkItem& at(const RowPlace& place, std::uint64_t index);

 private:
  std::string key_of(std::uint64_t index) const;

  const PipelineData* data_;
  SinkItem item_;
  std::size_t record_bytes_ = 0;  // how many bytes at the beginning of the item's key are the record's key
  bool begun_ = false;
};

/// One run of `write`: its sink and its progress. Only the caller's thread uses it.
class WriteRun {
 public:
  WriteRun(const PipelineData& data, SinkModel& sink, const WriteOptions& options);

  const WriteOptions& options() const noexcept { return options_; }
  /// The functions from `work_on` to `finish` call the sink. @throws whatever the sink throws, as an Error that names
  /// the sink. If the error concerns one sample, it also names that sample. `commit` and `commit_if_due` also throw
  /// whatever the caller's `progress` throws.
  void work_on(const SinkThreads& threads);
  void open();
  bool has_some();
  bool has(const SinkItem& item);
  void put(const SinkItem& item, Sample& sample, std::uint64_t bytes);
  void commit();
  /// Commits if the samples or bytes since the last commit reach the limits of the options.
  void commit_if_due();
  void finish();
  /// Makes the report from the counts of all samples made so far.
  void take_counts(const Chain& chain, const RunTotals& totals, std::uint64_t waited_ns);
  /// Subtracts `ns` from the measured time: time that the run spent only on finding out which samples the sink has.
  void add_untimed(std::uint64_t ns) noexcept { passed_over_ns_ += ns; }
  /// Calls the caller's `report`, if there is one.
  void report();
  /// Returns whether `put` or `commit` threw. If so, samples that were put after the last commit must not be committed.
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
  FetchedSoFar fetched_begun_;
  Report report_;
  bool storing_ = false;  // true during `put` and `commit`, and after one of them threw
};

/// Write all samples that are not in the sink. Return false if the run was stopped before the last sample. Both open
/// the sink. write_samples() opens it after everything else that can fail before the first sample. write_reordered()
/// opens it before it makes the engine.
bool write_samples(WriteRun& run, const std::shared_ptr<const PipelineData>& data, Executor::Impl& executor,
                   unsigned threads);
bool write_reordered(WriteRun& run, const std::shared_ptr<const PipelineData>& data, Executor::Impl& executor,
                     unsigned threads);

}  // namespace penstock::detail::runtime
