#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <penstock/executor.hpp>
#include <penstock/export.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sample.hpp>

namespace penstock {

/// What `write` knows about a sample besides its fields.
struct SinkItem {
  std::uint64_t position = 0;  ///< in the pipeline; items come in this order
  std::uint64_t index = 0;     ///< in the source
  std::string key;             ///< the source's key for it; empty where it has none
};

/// Where samples are written to, by one thread, in the pipeline's order:
///
///     void open(const Schema&, std::uint64_t size);   once, before anything else
///     bool has(const SinkItem&);                      already there, from a run that was killed: it is skipped
///     void put(const SinkItem&, Sample&);
///     void commit();                                  what was put so far survives a crash from now on
///     void finish();                                  the store is complete; never called after a failure
///     std::string name() const;
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
  std::uint64_t done = 0, total = 0;  ///< samples, skipped ones included
  std::uint64_t skipped = 0;          ///< were there already
  std::uint64_t filtered = 0;         ///< a filter left them behind
  std::uint64_t dropped = 0;          ///< bad ones, by the policy `drop`
  std::uint64_t bytes = 0;            ///< handed to the sink
};

struct WriteOptions {
  unsigned threads = 0;  ///< as of LoaderOptions
  std::optional<Executor> executor = {};
  std::size_t window = 0;                 ///< samples in work, at most 2^24; 0 = 8 a thread
  std::size_t window_bytes = 256u << 20;  ///< no new sample is begun while finished ones waiting hold more
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
  void put(const SinkItem& item, Sample& sample) override { sink_->put(item, sample); }
  void commit() override { sink_->commit(); }
  void finish() override { sink_->finish(); }
  std::string name() const override { return sink_->name(); }

 private:
  S* sink_;
};
PENSTOCK_API WriteProgress write(const Pipeline& pipeline, SinkModel& sink, const WriteOptions& options);
}  // namespace detail

/// Runs every sample of epoch 0 of `pipeline` (which needs no `batch`; one is ignored) through its stages on all
/// threads, and puts them into `sink` in order: the one loop behind packing, converting and tiling. Memory stays within
/// the window.
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

}  // namespace penstock
