#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/executor.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>

namespace penstock {

/// What `write` knows about a sample besides its fields. The same in every run.
struct SinkItem {
  std::uint64_t position = 0;  ///< in the pipeline's order; items come ordered by it, and by `child` within one
  std::uint64_t index = 0;     ///< of the record in the source; of a stream its number
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

/// The threads of a run of `write`, for a sink that has work of its own: compression. A handle; any thread.
class PENSTOCK_API SinkThreads {
 public:
  SinkThreads(Executor executor, unsigned threads);

  /// Runs `work` on one of the threads, soon; never inside this call. It must not throw, nor wait for other work, and
  /// must own what it works on. It may never run (the threads wait for the sink, there is no memory for a task, this
  /// is a child made by fork()): where a sink must wait for something that nobody has begun, it does that itself.
  void submit(std::function<void()> work) const noexcept;
  /// As many as the run uses.
  unsigned threads() const noexcept { return threads_; }

 private:
  Executor executor_;
  unsigned threads_;
};

/// Where samples are written to, by one thread, in the pipeline's order:
///
///     void open(const Schema&, std::uint64_t size);   once, before anything else; `unknown_size` where not every
///                                                     position becomes one sample (filter, flat_map, drop, a stream)
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
concept Sink = requires(S& sink, const S& shared, const Schema& schema, const SinkItem& item, Sample& sample) {
  { sink.open(schema, std::uint64_t{}) } -> std::same_as<void>;
  { sink.has(item) } -> std::same_as<bool>;
  { sink.put(item, sample) } -> std::same_as<void>;
  { sink.commit() } -> std::same_as<void>;
  { sink.finish() } -> std::same_as<void>;
  { shared.name() } -> std::convertible_to<std::string>;
};

struct WriteProgress {
  std::uint64_t done = 0;      ///< samples, skipped, filtered and dropped ones included
  std::uint64_t total = 0;     ///< the same at the end; with a flat_map, and for a stream, `unknown_size` until then
  std::uint64_t skipped = 0;   ///< were there already
  std::uint64_t filtered = 0;  ///< a filter left them out
  std::uint64_t dropped = 0;   ///< bad ones, by the policy `drop`
  std::uint64_t bytes = 0;     ///< handed to the sink
};

struct WriteOptions {
  unsigned threads = 0;  ///< as of LoaderOptions
  std::optional<Executor> executor = {};
  std::size_t window = 0;                 ///< samples in work, at most 2^24; 0 = 8 a thread. Never fewer than 4 a
                                          ///< thread with a flat_map, for a stream and a source of blocks: there
                                          ///< finished ones wait beside them, in three batches of `window` (at most
                                          ///< 1024; 0 = 64) samples
  std::size_t window_bytes = 256u << 20;  ///< no new sample is begun while finished ones waiting hold more; of those
                                          ///< batches each ends once it has a quarter of it, and beside them samples
                                          ///< of varying size are bounded by their number alone (0 = 4 a thread)
  std::uint64_t commit_every = 1000;      ///< samples a commit
  std::size_t commit_bytes = 64u << 20;   ///< or bytes, whichever comes first
  std::function<void(const WriteProgress&)> progress = {};  ///< called on the caller's thread after each commit
  std::stop_token stop = {};  ///< commits what is there and returns; `finish` is not called where samples are left
};

namespace detail {
class PENSTOCK_API SinkModel {
 public:
  virtual ~SinkModel() = default;
  virtual void open(const Schema& schema, std::uint64_t size) = 0;
  virtual bool has(const SinkItem& item) = 0;
  virtual bool has_some() const { return true; }
  virtual void work_on(const SinkThreads& /*threads*/) {}
  virtual void put(const SinkItem& item, Sample& sample) = 0;
  virtual void commit() = 0;
  virtual void finish() = 0;
  virtual std::string name() const = 0;
};
template <Sink S>
class SinkOf final : public SinkModel {
 public:
  explicit SinkOf(S& sink) : sink_(&sink) {}
  void open(const Schema& schema, std::uint64_t size) override { sink_->open(schema, size); }
  bool has(const SinkItem& item) override { return sink_->has(item); }
  bool has_some() const override {
    if constexpr (requires(const S& sink) {
                    { sink.has_some() } -> std::convertible_to<bool>;
                  })
      return std::as_const(*sink_).has_some();
    else
      return true;
  }
  void work_on(const SinkThreads& threads) override {
    if constexpr (requires(S & sink) { sink.work_on(threads); }) sink_->work_on(threads);
  }
  void put(const SinkItem& item, Sample& sample) override { sink_->put(item, sample); }
  void commit() override { sink_->commit(); }
  void finish() override { sink_->finish(); }
  std::string name() const override { return sink_->name(); }

 private:
  S* sink_;
};
PENSTOCK_API WriteProgress write(const Pipeline& pipeline, SinkModel& sink, const WriteOptions& options);
}  // namespace detail

/// Runs every sample of epoch 0 of `pipeline` (which needs no `batch`; one is ignored, and so are `bucket`, `pad` and
/// `ragged`) through its stages on all threads, and puts them into `sink` in order: the one loop behind packing,
/// converting and tiling. Memory stays within the window: of a record that a flat_map makes many samples of, never all
/// are held. Blocks that records share are decoded once, as by a loader, in 512 MiB.
///
/// A run that was stopped or killed is continued by running it again. What the sink has is not made again; what a
/// filter or `drop` left out is. With a flat_map each record is read again, to know how many samples it has, and of
/// those only the missing ones are made; a stream is read from its beginning. Made again, though not stored, are
/// what a shuffled stream gives, and of a source of blocks all that stands after the first sample that is not there.
/// @throws the first Error in order. Where the order, a key, a stage or the sink's `has` failed, what came before that
/// sample is committed first; where the sink failed to store, what it had committed stands.
template <Sink S>
WriteProgress write(const Pipeline& pipeline, S& sink, const WriteOptions& options = {}) {
  detail::SinkOf<S> model(sink);
  return detail::write(pipeline, model, options);
}
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
