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

/// What a run of `write` is to bring. The same for every run of one pipeline over the same data.
struct SinkJob {
  /// The samples' fields, with the names of classes (`Field::classes`) for a sink that can keep them.
  Schema schema;
  /// How many samples there will be; `unknown_size` where not every position becomes one (filter, flat_map, drop, a
  /// stream).
  std::uint64_t size = unknown_size;
  /// All that the samples depend on: the source and, by its `revision`, its data; orders, stages and the seed. A
  /// callable counts by its `.version`: a change of one that has none is not seen. A sink that goes on with what an
  /// earlier run has left keeps this beside it and refuses a `job_difference`, or one store would be of two pipelines.
  /// Each fact has at most 2,000 bytes.
  std::vector<JobFact> made_by = {};
};

/// What `write` knows about a sample besides its fields. The same in every run.
struct SinkItem {
  /// Position in the pipeline's order; items come ordered by it, and by `child` within one.
  std::uint64_t position = 0;
  std::uint64_t index = 0;  ///< which record of the source it is; for a stream, the record's number
  /// The source's key for the record; empty where it has none. Of a stream, and where a flat_map stands in the
  /// pipeline, the record's number then, in 10 digits. A flat_map's samples have "/" and the child's number after
  /// that, in 10 digits as well: "slide7/0000000042".
  std::string key;
  /// Number of a flat_map's sample among all that its record has, those that a filter leaves out counted; none
  /// without a flat_map.
  std::optional<std::uint32_t> child = {};
};

/// A key by where the item stands: the position, of 8 digits or as many as `size` positions need (`unknown_size`: 8,
/// and more where they don't suffice), and for a flat_map's samples "/" and the child's number in 10 digits.
PENSTOCK_API std::string position_key(const SinkItem& item, std::uint64_t size);

/// For a sink whose store says nothing of what made it: writes that into `file`, or, where an earlier run has, @throws
/// Error(state_mismatch) that names what differs. Other errors are Error(io); all have the file and `source`, the
/// sink's name. Nothing that `job.schema` and `job.size` say is compared.
PENSTOCK_API void keep_job(const std::string& file, const SinkJob& job, std::string_view source);

/// The threads of a run of `write`, for a sink that has work of its own: compression. A handle; any thread.
class PENSTOCK_API SinkThreads {
 public:
  /// Threads of `executor`, so many of which a run uses.
  SinkThreads(Executor executor, unsigned threads);

  /// Runs `work` on one of the threads, soon; never inside this call. It must not throw, nor wait for other work, and
  /// must own what it works on. It may never run (the threads wait for the sink, there is no memory for a task, this
  /// is a child made by fork()): where a sink must wait for something that nobody has begun, it does that itself.
  void submit(std::function<void()> work) const noexcept;
  /// Number of threads that the run uses.
  unsigned threads() const noexcept { return threads_; }

 private:
  Executor executor_;
  unsigned threads_;
};

/// Where samples are written to, by one thread, in the pipeline's order:
///
///     void open(const SinkJob&);                      once, before anything else
///     bool has(const SinkItem&);                      already there, from a run that was killed: it is skipped.
///                                                     Asked in the order of items before they are made, and perhaps
///                                                     again, in the same order, before they are put
///     void put(const SinkItem&, Sample&);
///     void commit();                                  what was put so far survives a crash from now on
///     void finish();                                  the store is complete; never called after a failure
///     std::string name() const;
///
/// and where it makes sense
///
///     bool has_some() const;   false: `open` found nothing of an earlier run, so that `has` need not be asked before a
///                              sample is made (default: true). Only what it costs changes
///     void work_on(SinkThreads);   before `open`: threads that the sink may give work to. Without it, where nobody but
///                              `write` calls, a sink works on the caller's thread alone
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
