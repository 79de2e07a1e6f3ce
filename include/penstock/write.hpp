// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/sink_model.hpp>
#include <penstock/error.hpp>
#include <penstock/executor.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/report.hpp>

namespace penstock {

/// How far a run of `write` is.
struct WriteProgress {
  std::uint64_t done = 0;   ///< samples done so far, including skipped, filtered and dropped ones
  std::uint64_t total = 0;  ///< samples in all, counted like `done`; `unknown_size` until the end if the pipeline has a
                            ///< flat_map or its source is a stream
  std::uint64_t skipped = 0;   ///< samples that the sink already had
  std::uint64_t filtered = 0;  ///< samples that a filter left out
  std::uint64_t dropped = 0;   ///< bad samples that the policy `drop` left out
  std::uint64_t bytes = 0;     ///< bytes given to the sink
};

/// Settings of `write`.
struct WriteOptions {
  /// Number of threads that make samples; at most as many as `executor` has.
  /// Default (0): all threads of `executor`. Without an executor: the number of cores - 1, at least 1.
  unsigned threads = 0;
  /// Threads shared with loaders. Default (none): the run has threads of its own.
  std::optional<Executor> executor = {};
  /// Largest number of samples that are being made or wait to be stored; at most 2^24.
  /// Default (0): 256 per thread. While finished samples hold 32 MiB or more, with any setting, a sample begins only if
  /// fewer than 32 per thread are being made or wait.
  ///
  /// With a flat_map, a stream or a source of blocks, the default is 8 per thread, or 4 per thread if samples differ in
  /// size. Values below 4 per thread are raised to 4 per thread. Finished samples then also wait in three batches. Each
  /// batch has at most 64 rows by default. If `max_in_flight` is set, a batch has at most that many rows, and at
  /// most 1,024.
  std::size_t max_in_flight = 0;
  /// Limit in bytes for finished samples that wait to be stored. While these samples hold more, no new sample is
  /// started.
  /// Default: 256 MiB.
  ///
  /// With a flat_map, a stream or a source of blocks, each of the three batches ends once it has a quarter of the
  /// limit. If samples differ in size, only `max_in_flight` limits the samples that are being made.
  std::size_t max_waiting_bytes = 256u << 20;
  /// The sink commits after this number of samples, or after `commit_bytes`, whichever comes first. Default: 1,000.
  std::uint64_t commit_every = 1000;
  /// The sink commits after it got this number of bytes, or after `commit_every` samples. Default: 64 MiB.
  std::size_t commit_bytes = 64u << 20;
  /// Bytes for decoded blocks (chunks, tiles), which are kept for the records that share them. A source
  /// may take a part, like in `LoaderOptions`. A record whose blocks need more than the rest is a bad sample. Default
  /// (0): 512 MiB.
  std::size_t max_block_bytes = 0;
  /// Called on the caller's thread for each bad sample that the policy `drop` leaves out, in the samples' order. The
  /// errors of these samples stay in memory until a later sample is stored.
  std::function<void(const Error&)> on_drop = {};
  /// Called on the caller's thread after each commit, and repeatedly while samples that the sink already has are
  /// skipped.
  std::function<void(const WriteProgress&)> progress = {};
  /// Called on the caller's thread before `write` returns, with a report of what the run did and what bounded it. Not
  /// called if `write` throws.
  std::function<void(const Report&)> report = {};
  /// When a stop is requested, `write` commits what the sink has and returns. `write` does not call `finish` if samples
  /// are left.
  std::stop_token stop = {};
};

/// Makes every sample of epoch 0 of `pipeline` on several threads, and puts the samples into `sink` in order. Packing,
/// converting and tiling all use this loop:
///
///     LmdbSink sink({.path = "train.lmdb"});
///     WriteProgress end = write(from(Files{.root = "train"}), sink, {.threads = 8});
///
/// The pipeline needs no `batch`. If it has one, `write` ignores it, and also `bucket`, `pad` and `ragged`.
///
/// Memory stays within the options' limits, even if a flat_map makes many samples from a record. Blocks that records
/// share are decoded once, as in a loader. Returns how far the run came.
///
/// To continue a run that was stopped or killed, run it again with the same pipeline over the same data. A sink refuses
/// a store that another pipeline has begun, if `SinkJob::made_by` shows the difference. Callables without a
/// version can't be compared. If a run was continued, its report names each stage with such a callable.
///
/// Samples that the sink already has are not made again. Exceptions:
/// - samples that a filter or the policy `drop` left out are made again;
/// - with a flat_map every record is read again, to know how many samples it has, but only missing samples are made;
/// - a stream is read from its beginning; samples of a shuffled stream are made again, but not stored again.
///
/// @throws the first Error in the order of the samples. If the order, a key, a stage or the sink's `has` failed, the
/// samples before the failed one are committed first. If the sink failed to store a sample, only samples that it had
/// committed remain.
template <Sink S>
WriteProgress write(const Pipeline& pipeline, S& sink, const WriteOptions& options = {}) {
  detail::SinkOf<S> model(sink);
  return detail::write(pipeline, model, options);
}
/// Does the same with a sink that is made in the call.
template <Sink S>
WriteProgress write(const Pipeline& pipeline, S&& sink, const WriteOptions& options = {}) {
  return write(pipeline, sink, options);
}
/// Overload for types that are not sinks: fails to compile, with the reason.
template <class S>
  requires(!Sink<std::remove_reference_t<S>>)
WriteProgress write(const Pipeline&, S&&, const WriteOptions& = {}) {
  detail::explain_sink<std::remove_reference_t<S>>();
  return {};
}

}  // namespace penstock
