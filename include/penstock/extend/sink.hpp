// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/executor.hpp>
#include <penstock/extend/job_facts.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Describes what a run of `write` is going to store. Every run of one pipeline over the same data has the same
/// SinkJob.
struct SinkJob {
  /// The samples' fields, with the names of classes (`Field::classes`) for a sink that can keep them.
  Schema schema;
  /// Number of samples, or `unknown_size` if not every position becomes one sample (filter, flat_map, drop, a stream).
  std::uint64_t size = unknown_size;
  /// All that the samples depend on: the source, the revision of its data, orders, stages and the seed. The facts
  /// describe a callable only by its `.version`. Without a version, a change of the callable is not noticed. If a sink
  /// can continue an unfinished store, it keeps these facts with the store. It refuses to continue if `job_difference`
  /// finds a difference. Otherwise one store could have samples of two pipelines. Each fact has at most 2,000 bytes.
  std::vector<JobFact> made_by = {};
};

/// What `write` knows about a sample in addition to its fields. A sample has the same SinkItem in every run.
struct SinkItem {
  /// Position in the pipeline's order. Items come in the order of positions and, within a position, of `child`.
  std::uint64_t position = 0;
  std::uint64_t index = 0;  ///< number of the record in its source or stream
  /// The source's key for the record. If the source gives no key for the record, the key is empty, or the record's
  /// number in 10 digits (in a stream, or with a flat_map). With a flat_map, "/" and the child's number in 10 digits
  /// are appended: "slide7/0000000042".
  std::string key;
  /// Number of the sample among all samples that a flat_map makes of one record. Samples that a filter drops count too.
  /// No value without a flat_map.
  std::optional<std::uint32_t> child = {};
};

/// Returns the item's position as a key, in 8 digits. If `size` positions need more digits, every key has that many.
/// With `unknown_size`, only positions that need more digits have more. For a flat_map's samples, "/" and the child's
/// number in 10 digits follow.
PENSTOCK_API std::string position_key(const SinkItem& item, std::uint64_t size);

/// Records in `file` which job makes a store, for a sink whose store does not say so itself. If `file` does not exist,
/// writes `job.made_by` into it. Otherwise compares `job.made_by` with the file. `job.schema` and `job.size` are not
/// compared.
/// @throws Error(state_mismatch) if the facts differ (the error names the difference), or if `keep_job` did not write
/// the file. Other errors are those of `read_text` and `replace_text`. All errors name the file and `source`, the
/// sink's name.
PENSTOCK_API void keep_job(const std::string& file, const SinkJob& job, std::string_view source);

/// The threads of a run of `write`. A sink can give them work, for example compression. Copies stand for the same
/// threads. Any thread.
class PENSTOCK_API SinkThreads {
 public:
  /// Stands for the threads of `executor`. A run uses `threads` of them.
  SinkThreads(Executor executor, unsigned threads);

  /// Runs `work` soon on one of the threads, never inside this call. `work` must not throw, must not wait for other
  /// work, and must own what it works on. `work` may never run: the threads may all be waiting for the sink, memory for
  /// a task may be lacking, or this process may be a child made by fork(). So if a sink needs the result of work that
  /// has not begun, the sink must do that work itself.
  void submit(std::function<void()> work) const noexcept;
  /// Number of threads that the run uses.
  unsigned threads() const noexcept { return threads_; }

 private:
  Executor executor_;
  unsigned threads_;
};

/// Stores samples. Only the thread that called `write` calls the members. Samples come in the pipeline's order. A sink
/// has
///
///     void open(const SinkJob&);
///         Called once, before `has`, `put`, `commit` and `finish`.
///     bool has(const SinkItem&);
///         Whether the store already has the item from a run that did not finish. If so, `write` skips the item. Called
///         for items in their order before they are made, and perhaps again, in the same order, before they are put.
///     void put(const SinkItem&, Sample&);
///         Writes one sample.
///     void commit();
///         Makes what was put so far survive a crash.
///     void finish();
///         Completes the store. Called after the last `put` and `commit`. Not called if the run failed, or was stopped
///         before the last sample.
///     std::string name() const;
///         Name for errors.
///
/// and may have
///
///     bool has_some() const;
///         False if `open` found nothing of an earlier run. `write` then may make samples without calling `has` first.
///         Default: true. The result changes only the cost.
///     void work_on(SinkThreads);
///         Called by `write` before `open`, with threads that the sink may give work to. A sink without this function
///         works only on the caller's thread.
template <class S>
concept Sink = requires(S& sink, const S& shared, const SinkJob& job, const SinkItem& item, Sample& sample) {
  { sink.open(job) } -> std::same_as<void>;
  { sink.has(item) } -> std::same_as<bool>;
  { sink.put(item, sample) } -> std::same_as<void>;
  { sink.commit() } -> std::same_as<void>;
  { sink.finish() } -> std::same_as<void>;
  { shared.name() } -> std::convertible_to<std::string>;
};

}  // namespace penstock
