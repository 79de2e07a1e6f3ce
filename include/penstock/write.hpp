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
  std::uint64_t done = 0;     ///< samples, skipped, filtered and dropped ones included
  std::uint64_t total = 0;    ///< samples at the end, skipped, filtered and dropped ones included; with a flat_map, and
                              ///< for a stream, `unknown_size` until then
  std::uint64_t skipped = 0;  ///< were there already
  std::uint64_t filtered = 0;  ///< a filter left them out
  std::uint64_t dropped = 0;   ///< bad ones, by the policy `drop`
  std::uint64_t bytes = 0;     ///< handed to the sink
};

/// Settings of `write`.
struct WriteOptions {
  /// Threads that make samples, at most as many as the executor has; 0 = all of those, without an executor cores - 1.
  unsigned threads = 0;
  /// Threads shared with loaders; default: its own.
  std::optional<Executor> executor = {};
  /// Samples in work, at most 2^24; 0 = 256 a thread, and 32 while finished ones hold 32 MiB or more. With a
  /// flat_map, for a stream and for a source of blocks 8 a thread, and never fewer than 4: there finished samples wait
  /// beside them, in three batches of `max_in_flight` samples (at most 1024; 0 = 64).
  std::size_t max_in_flight = 0;
  /// Bytes of finished samples that wait: while they hold more, no new sample is begun. Each of those three batches
  /// ends once it has a quarter of it; samples of varying size that are in work beside them are bounded by their number
  /// alone, which is `max_in_flight`, or 4 a thread where that is 0.
  std::size_t max_waiting_bytes = 256u << 20;
  /// Samples after which the sink commits, unless `commit_bytes` come first.
  std::uint64_t commit_every = 1000;
  /// Bytes handed to the sink after which it commits, unless `commit_every` samples come first.
  std::size_t commit_bytes = 64u << 20;
  /// Bytes for decoded blocks that are kept for the records that share them (a source of blocks); 0 = 512 MiB. A record
  /// whose blocks need more is a bad sample.
  std::size_t max_block_bytes = 0;
  /// Called on the caller's thread for each bad sample that the policy `drop` leaves out, in order. What they say stays
  /// in memory until a sample after them is stored.
  std::function<void(const Error&)> on_drop = {};
  /// Called on the caller's thread after each commit.
  std::function<void(const WriteProgress&)> progress = {};
  /// Called on the caller's thread before `write` returns, not where it throws: what it did, and what bounded it.
  std::function<void(const Report&)> report = {};
  /// Commits what is there and returns; `finish` is not called where samples are left.
  std::stop_token stop = {};
};

/// Runs every sample of epoch 0 of `pipeline` (which needs no `batch`; one is ignored, and so are `bucket`, `pad` and
/// `ragged`) through its stages on all threads, and puts them into `sink` in order: the one loop behind packing,
/// converting and tiling:
///
///     LmdbSink sink({.path = "train.lmdb"});
///     WriteProgress end = write(from(Files{.root = "train"}), sink, {.threads = 8});
///
/// Memory stays within the window: of a record that a flat_map makes many samples of, never all are held. Blocks that
/// records share are decoded once, as by a loader.
///
/// A run that was stopped or killed is continued by running it again: the same pipeline over the same data, as far as
/// that can be told (`SinkJob::made_by`); sinks refuse what another one has left. A callable without a version can't be
/// compared; the report says so where a run was continued. What the sink has is not made again; what a
/// filter or `drop` left out is. With a flat_map each record is read again, to know how many samples it has, and of
/// those only the missing ones are made; a stream is read from its beginning. What a shuffled stream gives is made
/// again, though not stored.
/// @throws the first Error in order. Where the order, a key, a stage or the sink's `has` failed, what came before that
/// sample is committed first; where the sink failed to store, what it had committed stands.
template <Sink S>
WriteProgress write(const Pipeline& pipeline, S& sink, const WriteOptions& options = {}) {
  detail::SinkOf<S> model(sink);
  return detail::write(pipeline, model, options);
}
/// Writes into a sink that is made for this call, as the other `write`.
template <Sink S>
WriteProgress write(const Pipeline& pipeline, S&& sink, const WriteOptions& options = {}) {
  return write(pipeline, sink, options);
}
/// What is no sink: a compiler's error that says why.
template <class S>
  requires(!Sink<std::remove_reference_t<S>>)
WriteProgress write(const Pipeline&, S&&, const WriteOptions& = {}) {
  detail::explain_sink<std::remove_reference_t<S>>();
  return {};
}

}  // namespace penstock
