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

/// What a run of `write` is going to write. It is the same for every run of one pipeline over the same data.
struct SinkJob {
  /// The samples' fields, with the names of classes (`Field::classes`) for a sink that can keep them.
  Schema schema;
  /// Number of samples, or `unknown_size` if not every position becomes one sample (filter, flat_map, drop, a stream).
  std::uint64_t size = unknown_size;
  /// All that the samples depend on: the source and, by its `revision`, its data; orders, stages and the seed. A
  /// callable counts by its `.version`: without a version, a change of the callable is not noticed. A sink that
  /// continues what an earlier run has left keeps these facts beside it and refuses a `job_difference`. Otherwise one
  /// store would have samples of two pipelines. Each fact has at most 2,000 bytes.
  std::vector<JobFact> made_by = {};
};

/// What `write` knows about a sample in addition to its fields. It is the same in every run.
struct SinkItem {
  /// Position in the pipeline's order. Items come in the order of positions and, within a position, of `child`.
  std::uint64_t position = 0;
  std::uint64_t index = 0;  ///< number of the source's record; for a stream, the number of its record
  /// The source's key for the record, or empty if it has none. If it has none and the source is a stream, or the
  /// pipeline has a flat_map, the key is the record's number in 10 digits. A flat_map's samples have "/" and the
  /// child's number in 10 digits appended: "slide7/0000000042".
  std::string key;
  /// Number of a flat_map's sample among all samples that it makes of its record. Samples that a filter drops count
  /// too. None without a flat_map.
  std::optional<std::uint32_t> child = {};
};

/// Makes a key of the item's position. The position has 8 digits, or more if `size` positions need more. With
/// `unknown_size` it has 8, or more if it needs them. For a flat_map's samples, "/" and the child's number in 10 digits
/// follow.
PENSTOCK_API std::string position_key(const SinkItem& item, std::uint64_t size);

/// For a sink whose store does not record what made it: writes `job.made_by` into `file`, if there is no such file.
/// Otherwise it compares `job.made_by` with the file. `job.schema` and `job.size` are not compared.
/// @throws Error(state_mismatch) if the facts differ (the error names the difference). Other errors are Error(io). All
/// name the file and `source`, the sink's name.
PENSTOCK_API void keep_job(const std::string& file, const SinkJob& job, std::string_view source);

/// The threads of a run of `write`, for a sink that has work for them: compression. A handle; any thread.
class PENSTOCK_API SinkThreads {
 public:
  /// Threads of `executor`; a run uses `threads` of them.
  SinkThreads(Executor executor, unsigned threads);

  /// Runs `work` soon on one of the threads, never inside this call. `work` must not throw, must not wait for other
  /// work, and must own what it works on. It may never run: the threads may all be waiting for the sink, memory for a
  /// task may be lacking, or this process may be a child made by fork(). So if a sink needs the result of work that has
  /// not begun, the sink must do that work itself.
  void submit(std::function<void()> work) const noexcept;
  /// Number of threads that the run uses.
  unsigned threads() const noexcept { return threads_; }

 private:
  Executor executor_;
  unsigned threads_;
};

/// Where samples are written. One thread calls it, in the pipeline's order. A sink has
///
///     void open(const SinkJob&);
///         Called once, before anything else.
///     bool has(const SinkItem&);
///         Whether the store has the item from a run that was killed; the item is skipped then. Called in the order of
///         items before they are made, and perhaps again, in the same order, before they are put.
///     void put(const SinkItem&, Sample&);
///         Writes one sample.
///     void commit();
///         Makes what was put so far survive a crash.
///     void finish();
///         The store is complete. Never called after a failure.
///     std::string name() const;
///         Name for errors.
///
/// and may have
///
///     bool has_some() const;
///         False if `open` found nothing of an earlier run: then `has` need not be called before a sample is made.
///         Default: true. It changes only the cost.
///     void work_on(SinkThreads);
///         Called before `open`, with threads that the sink may give work to. If it was not called (only `write` calls
///         it), a sink works only on the caller's thread.
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
