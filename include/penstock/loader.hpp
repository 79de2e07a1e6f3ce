// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/batch.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/executor.hpp>
#include <penstock/memory.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/report.hpp>
#include <penstock/state.hpp>

namespace penstock {

namespace detail {
class DeviceModel;
}

/// What happens to a batch that has fewer rows than there are devices.
enum class FewRows : std::uint8_t {
  error,  ///< the epoch ends with Error(limit_exceeded)
  drop,   ///< the batch is dropped
  empty,  ///< the batch is delivered, and some of its parts have no rows
};

/// When a loader allocates a device's memory.
enum class Growth : std::uint8_t {
  preallocate,  ///< all of it in the constructor, which throws if there is not enough
  on_demand,    ///< for two batches at first; for one more each time the caller asks for a batch while it holds all
                ///< batches on the device
};

/// Settings of a loader. No setting changes the contents of a batch, with two exceptions:
/// - a `device` may itself decode images for a stage after `batch` (`decode_jpeg`); then a few pixel values may differ;
/// - a record whose blocks need more memory than `max_block_bytes` has for it is a bad sample.
struct LoaderOptions {
  // What most callers set.

  /// Where batches end up. Runners write batches into memory that the device reads directly. Each batch is copied to
  /// the device once, while earlier batches are being used. Default: the host.
  Device device = host();
  /// Several GPUs, or several emulated ones, instead of `device`. Each device gets a part of every batch; see
  /// `next_parts`.
  /// Default (empty): only `device`.
  std::vector<Device> devices = {};
  /// Number of runners; at most as many as `executor` has threads.
  /// Default (0): all threads of `executor`; without an executor, the number of cores - 1, at least 1.
  ///
  /// The thread that waits for batches also makes samples in two cases:
  /// - samples take only a few microseconds, and there are at least as many runners as cores;
  /// - the executor runs fewer threads than it should.
  ///
  /// This thread is the one that calls `next()`; with a device it is a thread of the loader.
  unsigned threads = 0;
  /// Threads shared with other loaders. Default (none): the loader has threads of its own.
  std::optional<Executor> executor = {};
  /// One limit in bytes for the total of: batches, samples that wait for their rows, records that samples share,
  /// decoded blocks, and the runners' working memory. Default (0): no limit.
  /// The limit does not count pages of a mapped store. It also does not count what a codec keeps of the image that it
  /// is decoding (libjpeg: 6 bytes per pixel of a progressive image).
  std::size_t max_memory_bytes = 0;

  // What changes only speed and memory.

  /// Batches in the ring, including those that the caller holds; at least 2.
  /// Default (0): one that the caller holds, one ready and two being filled; more if a batch has fewer rows than there
  /// are runners. A limit on memory may lower this number; the report notes that.
  unsigned depth = 0;
  /// Batches on each device, including those that the caller holds; at least 2.
  /// Default (0): 3, of which the caller holds one, one is ready and one is being copied; fewer if `max_device_bytes`
  /// requires it.
  unsigned device_depth = 0;
  /// Limit in bytes for batches in each device's memory. Default (0): no limit.
  std::size_t max_device_bytes = 0;
  /// When memory for `device_depth` batches is allocated. The loader keeps that memory until it is destroyed.
  /// Default: in the constructor.
  Growth growth = Growth::preallocate;
  /// Limit in bytes for host memory that a device reads directly. This memory holds the `depth` batches of the ring.
  /// Default (0): no limit except `max_memory_bytes`, which counts these bytes too.
  std::size_t max_pinned_bytes = 0;
  /// Bytes for finished samples that wait until all samples before them are kept or dropped. Only pipelines with a
  /// filter, `flat_map`, the policy `drop` or a stream need them.
  /// Default (0): room for as many samples as a batch has rows, and for at least 4 samples per runner.
  std::size_t max_reorder_bytes = 0;
  /// Bytes for decoded blocks (chunks, tiles), which are kept for the records that share them. Default (0): 512 MiB;
  /// with `max_memory_bytes`, at most half of that limit and at least 8 MiB. A source that fetches blocks from far away
  /// may take up to a quarter for blocks that wait to be loaded. A record whose blocks need more than the rest is a bad
  /// sample.
  ///
  /// Two things are not included. Readers of stand-ins for bad samples have separate blocks: each of these readers
  /// keeps 8 MiB, plus the blocks of the record that it reads. The list of blocks that the next records need takes up
  /// to 16 MiB.
  std::size_t max_block_bytes = 0;
  /// Memory of `device` from which batches are allocated, for a limit that several loaders share. Not allowed with
  /// `devices`, or if `device` is the host. Must outlive the loader and its batches.
  /// Default (null): `device_memory(device)`.
  MemoryResource* device_resource = nullptr;
  /// Memory for batch buffers on the host. Default (null): `penstock::host_memory()`; with a device, the device's
  /// pinned memory, from which copies are fastest. If no memory can be pinned, the loader uses ordinary memory, and the
  /// report notes that.
  MemoryResource* host_memory = nullptr;
  /// Chooses each of `threads`, `depth`, `max_reorder_bytes` and `max_block_bytes` that is 0, while the first batches
  /// are delivered. Batches and states are the same as without `tune`. `Report::tuning` shows what was tried.
  /// Default: false.
  ///
  /// Tuning begins with the values that the options have without `tune`. The loader's counters show what runners lack.
  /// Tuning tries more of what they lack, and keeps a value that makes batches faster. Exception: a larger
  /// `max_block_bytes` is kept without a comparison. Tuning ends when no value makes batches faster, or when the caller
  /// no longer waits for batches. Tuning takes a few seconds. If the source has blocks, tuning lasts at least until the
  /// memory for blocks has been filled three times.
  ///
  /// Limits:
  /// - Tuning uses at most as many runners as the executor has threads. If `threads` is 0 and no executor is given, the
  ///   loader's own executor has twice as many threads as there are cores, at least 16.
  /// - With `max_memory_bytes`, tuning adds at most half of the memory that the limit leaves free. This half is then
  ///   not available for large samples, or for rows that differ in size.
  /// - Without `max_memory_bytes`, tuning may add as much memory as the loader already uses, or 1 GiB if that is more.
  /// - The caller may not hold more batches than without `tune`.
  bool tune = false;
  /// Number of slices that the timeline of `Loader::write_trace` keeps per line: the latest ones. Each slice takes 32
  /// bytes, which `max_memory_bytes` does not count. At most 2^26. Default (0): no timeline.
  std::size_t trace = 0;

  // What changes results: which batches are delivered, and when the run ends.

  /// What happens to a batch that has fewer rows than there are devices. Default: it ends the epoch with an error.
  FewRows few_rows = FewRows::error;
  /// Number of epochs, counted from epoch 0. After the last of them `next()` returns nothing, nothing more is read, and
  /// the report notes the end. Default (0): no end.
  std::uint64_t epochs = 0;
  /// After a stop is requested, `next()` returns nothing. Default: never requested.
  std::stop_token stop = {};
};

/// What is known of a batch that `Loader::next_into` copied.
struct CopiedBatchInfo {
  /// Number of rows, including rows of padding.
  std::uint64_t rows = 0;
  /// `epoch`: number of the epoch. `number`: number of the batch in its epoch. Both count from 0.
  std::uint64_t epoch = 0, number = 0;
  std::vector<std::uint64_t> indices;  ///< source index of each row, like `Batch::indices`
  std::vector<std::uint8_t> mask;      ///< one value per row, like `Batch::mask`
};

class Loader;

/// The batches of one epoch, as an input range: `for (Batch& batch : loader.epoch())`. Each step of the loop gives the
/// last batch back, unless the loop's body has moved the batch elsewhere. Only one thread at a time may use the range
/// and its loader.
///
/// The range ends when its epoch ends: after the last batch, after `end_epoch()`, or after a stop. A range becomes
/// stale when another epoch is begun (by `epoch()`, or by a `next()` after the end), or when a state is resumed. Then
/// `begin()` and `++` throw Error(invalid_argument), which names both epochs. So loops over one loader can't be nested.
class PENSTOCK_API EpochRange {
 public:
  /// An input iterator: it refers to the current batch.
  class PENSTOCK_API iterator {
   public:
    /// Type of the elements.
    using value_type = Batch;
    /// Required by the standard library; iterators can't be subtracted.
    using difference_type = std::ptrdiff_t;
    /// The range can be iterated once.
    using iterator_concept = std::input_iterator_tag;
    /// The current batch; valid until `++`.
    Batch& operator*() const noexcept { return range_->current_; }
    /// A member of the current batch; valid until `++`.
    Batch* operator->() const noexcept { return &range_->current_; }
    /// Gives the batch back and waits for the next one. @throws what `Loader::next` throws.
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    /// Gives the batch back and waits for the next one. @throws what `Loader::next` throws.
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept { return it.done(); }

   private:
    friend class EpochRange;
    explicit iterator(EpochRange* range) : range_(range) {}
    bool done() const noexcept { return range_->done_; }
    EpochRange* range_;
  };
  /// Waits for the epoch's next batch. After a loop was left, that is the batch after the last one delivered.
  /// @throws what `Loader::next` throws.
  iterator begin();
  /// The end of the epoch: an iterator is equal to it if no batch is left.
  std::default_sentinel_t end() const noexcept { return {}; }
  /// Number of the epoch, from 0.
  std::uint64_t number() const noexcept { return number_; }

 private:
  friend class Loader;
  EpochRange(Loader* loader, StreamRef stream, std::uint64_t beginning, std::uint64_t number)
      : loader_(loader), stream_(stream), beginning_(beginning), number_(number) {}
  void advance();
  Loader* loader_;
  StreamRef stream_;
  std::uint64_t beginning_, number_;
  Batch current_;
  bool done_ = false;
};

/// Runs a pipeline: prefetches batches on its threads while the caller computes. Nothing runs before the caller asks
/// for the first batch. Only one thread at a time may use a loader. Exceptions: any thread may call `report()`,
/// `write_trace()` and `stop()`. Move-only.
///
/// A loader's position is its next batch: `next()` returns that batch, `state()` names it, and a loop begins with it.
/// Leaving a loop does not change the position. The rest of the epoch then comes from `next()`, from a second loop over
/// the same range, or from a loader that resumes a state saved at this position. `epoch()` and `end_epoch()` give up
/// the rest of the epoch: after either call, `state()` names the next epoch's first batch. After an error, `state()`
/// still names the batch that failed, so that the caller can try it again.
///
/// A caller may leave a loop early, throw an exception in it, or destroy the loader at any moment. The destructor waits
/// only for the samples that are being made. A loader that was moved from may only be assigned to or destroyed.
///
/// In a child made by fork(), calls of the parent's loader throw Error(forked), and so does making a new loader.
/// Exceptions: `pipeline()`, `steps_per_epoch()` and `epoch_number()` work; `stop()` and the destructor do nothing.
class PENSTOCK_API Loader {
 public:
  /// Checks the pipeline and the options, plans the memory, and allocates the ring.
  /// @throws Error(schema_mismatch) if
  /// - the pipeline has no fields left;
  /// - a field has a varying shape, and is neither ragged nor padded;
  /// - images have differing sizes after the last stage.
  /// @throws Error(invalid_argument) if
  /// - the pipeline has no `batch`;
  /// - the pipeline can never make a batch: the source is empty, or, with Tail::drop, there are fewer samples than a
  ///   batch has rows;
  /// - `threads` is above 16,384;
  /// - an option has a value that is not allowed, or two options contradict each other.
  /// @throws Error(out_of_memory) if `max_memory_bytes`, `max_pinned_bytes` or `max_device_bytes` is too small (the
  /// error lists what memory is needed for), or if the device has no more memory.
  /// @throws Error(unsupported) if the device is not supported here, or if there are stages after `batch` and a field
  /// is padded to the longest row.
  /// @throws Error(device) if a call of the device fails.
  explicit Loader(Pipeline pipeline, LoaderOptions options = {});
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Begins the next epoch: epoch 0, or the epoch after the one begun last. After `resume`, continues the epoch that
  /// the state names. Gives up what is left of the previous epoch; ranges over that epoch become stale. The loader must
  /// outlive the returned range.
  /// @throws Error(invalid_argument | unsupported) if `next` would refuse `stream`; then nothing is given up.
  [[nodiscard]] EpochRange epoch(StreamRef stream = {}) &;
  EpochRange epoch(StreamRef stream = {}) && = delete;  // the loader would be gone in the loop: give it a name
  /// Gives up what is left of the epoch that was begun or resumed. The next `epoch()` or `next()` begins the following
  /// epoch, and `state()` names the first batch of that epoch. With `Rank::steps_per_epoch` the data continue after
  /// the last batch that was delivered. Does nothing before the first epoch, or after the end of an epoch that had no
  /// error.
  void end_epoch();
  /// Returns the next batch. Returns nothing once at the end of the epoch; the call after that begins the next epoch.
  /// Always returns nothing after a stop.
  ///
  ///     while (auto batch = loader.next()) {
  ///       train_on(batch->view<float, 4>("image"), batch->view<std::int64_t, 1>("label"));
  ///     }
  ///
  /// On a device, work that the caller enqueues on `stream` afterwards sees the batch. The host waits only until the
  /// batch's copy is enqueued. Without a stream, the host waits until the batch is on the device. The caller's work on
  /// the batch must then be finished when the lease ends.
  /// @throws the Error of the first bad sample in order. This error ends the epoch: `epoch()` begins the next one, and
  /// `state()` still names the batch that failed.
  /// @throws Error(quota_exceeded) at the end of an epoch if all its samples were bad.
  /// @throws Error(leases_exhausted) if the caller holds all batches of the ring, or all batches on a device.
  /// @throws Error(out_of_memory) if the batch has rows that differ in size, and they don't fit `max_memory_bytes`.
  /// This error comes before any other error of the batch.
  /// @throws Error(invalid_argument) if `stream` belongs to another device, or the loader has several devices.
  /// @throws Error(unsupported) if `stream` is being captured.
  /// @throws Error(device) if a call of the device fails. After Error(device | unsupported | invalid_argument) the
  /// batch is still the next one. Exception: if the batch's copy failed, the epoch ends.
  /// @throws Error(limit_exceeded) if the two threads that serve a device can't be started.
  std::optional<Batch> next(StreamRef stream = {});

  /// Returns the next batch of a loader with several `devices`, in parts: part d is on device d. Each part has
  /// consecutive rows of the batch, in the order of the devices. If the rows can't be divided evenly, the first parts
  /// have one row more. Never returns only some of the parts. Returns nothing at the end of the epoch, like `next`.
  /// `streams` has one stream for each device, like the stream of `next`.
  ///
  /// Each part is a separate lease. A part's `Batch::size()` is the number of its own rows. `Batch::global_size()` is
  /// the number of rows of all parts and ranks, so that gradients can be weighted by the rows of each part.
  /// @throws what `next` throws; Error(limit_exceeded) if `few_rows` is FewRows::error and a device would get no row.
  std::optional<std::vector<Batch>> next_parts(std::span<const StreamRef> streams);

  /// Copies the next batch to `to`, the caller's own memory, which must be on the device of the loader's batches. The
  /// caller may pass the same addresses each time, and so can capture work on them into a graph. The caller gets no
  /// lease. Returns nothing at the end of the epoch.
  ///
  /// `to` has one tensor per field, in the schema's order, with the field's dtype and shape and at least as many rows
  /// as the largest batch. Rows after the batch's rows keep their contents. On a device the copies are enqueued on
  /// `stream`, a stream of that device, and the host does not wait for them.
  /// @throws what `next` throws; Error(device) also if the copy to `to` fails. After that failure the batch counts as
  /// delivered.
  /// @throws one of these errors, after which the batch is still the next one:
  /// - Error(schema_mismatch) for tensors that don't fit;
  /// - Error(unsupported) for fields that are ragged, or padded to the longest row;
  /// - Error(invalid_argument) for the host's stream if batches are on a device.
  std::optional<CopiedBatchInfo> next_into(std::span<const TensorView> to, StreamRef stream = {});

  /// Returns a state of 64 bytes that names the batch that `next()` would return: the batch after the last one
  /// delivered. After an epoch's last batch, the state names the next epoch's first batch. If a filter, for example,
  /// decides how many rows there are, the state may name the rest of the same epoch instead, even if no batch is left
  /// in it. After an error the state names the batch that failed.
  /// @throws Error(limit_exceeded) from epoch 2^32 on.
  State state() const;
  /// Makes the next `epoch()` or `next()` continue at the batch that `state` names. The numbers of threads, batches in
  /// the ring and ranks may differ from those of the loader that saved the state. Exception: with
  /// `Rank::steps_per_epoch` and a number of samples that is not known in advance (see `for_rank`), rank and world must
  /// be the same.
  /// @throws Error(state_mismatch) if
  /// - the state belongs to another pipeline; the error says what differs: seed, source, orders, stages, or the rest;
  /// - the state is damaged, or has an unknown version;
  /// - the state's position is not the beginning of a batch.
  void resume(const State& state);
  /// Writes `state()` to a file, like `save_state`. Also writes the pipeline in words to the same file.
  /// @throws what `state` and `save_state` throw.
  void save(const std::string& file) const;
  /// Resumes the state in a file that `save` wrote.
  /// @throws what `load_state` and the other `resume` throw. If the file has the pipeline in words,
  /// Error(state_mismatch) says which stage or option differs, and how.
  void resume(const std::string& file);
  /// Number of the epoch that the next batch belongs to.
  std::uint64_t epoch_number() const noexcept;

  /// Makes every `next()` return nothing from now on, also a `next()` that is waiting. A `next()` that makes samples
  /// itself (see `LoaderOptions::threads`) finishes the current sample first. Any thread.
  void stop() noexcept;

  /// The pipeline that the loader runs.
  const Pipeline& pipeline() const noexcept;
  /// Batches per epoch, the same on every rank. @throws what `Pipeline::steps_per_epoch` throws.
  std::uint64_t steps_per_epoch() const;
  /// Returns what happened so far, and what was slow. Any thread.
  Report report() const;
  /// Writes a timeline of the latest work to a file that chrome://tracing and Perfetto open. Any thread. There is a
  /// line for
  /// - each runner: its samples and their stages, loads of blocks, and the settling of samples that waited for older
  ///   ones;
  /// - each batch of the ring: whether it is being filled, ready or held;
  /// - calls of the order;
  /// - runners without work, and why;
  /// - `next()`;
  /// - each device.
  ///
  /// `LoaderOptions::trace` is the number of slices that each line keeps.
  /// @throws Error(invalid_argument) if `trace` is 0; Error(not_found | io) that names the file, which may be
  /// incomplete.
  void write_trace(const std::string& file) const;

  class Impl;

 private:
  friend class EpochRange;
  std::shared_ptr<detail::DeviceModel> device() const noexcept;  // null: the host
  void begin_epoch();
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
