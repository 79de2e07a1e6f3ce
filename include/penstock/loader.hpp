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

/// What becomes of a batch with fewer rows than there are devices.
enum class FewRows : std::uint8_t {
  error,  ///< it ends the epoch with Error(limit_exceeded)
  drop,   ///< it does not come
  empty,  ///< it comes, with parts of no rows
};

/// When a loader takes a device's memory.
enum class Growth : std::uint8_t {
  preallocate,  ///< all of it in the constructor, which fails where there is not enough
  on_demand,    ///< two batches at first, and one more each time that a caller is found to wait for want of one
};

/// Settings of a loader. None of them changes a batch, but that a `device` may decode by itself where a stage after
/// `batch` decodes (`decode_jpeg`); `few_rows` may leave some out.
struct LoaderOptions {
  /// Where batches end up. Batch buffers lie in memory that it reads by itself, and each batch is one copy, made while
  /// the batches before it are worked on.
  Device device = host();
  /// Several GPUs (or emulated ones), instead of `device`: each has its part of every batch. See `next_parts`.
  std::vector<Device> devices = {};
  /// What becomes of a batch with fewer rows than there are devices.
  FewRows few_rows = FewRows::error;
  /// Runners, at most as many as the executor has threads; 0 = all of those, without an executor cores - 1. Where there
  /// are not fewer than cores, and samples take less than some microseconds, the thread that waits for batches is one
  /// of them meanwhile: that which calls `next()`, with a device one of the loader's own. It also makes samples where
  /// fewer threads run than should.
  unsigned threads = 0;
  /// Threads shared with other loaders; default: its own.
  std::optional<Executor> executor = {};
  /// Limit in bytes for batches, samples that wait for their rows, records that samples share, and the runners' working
  /// memory together; 0 = no limit. It does not count what a codec keeps of the one image it decodes (libjpeg: 6 bytes
  /// a pixel of a progressive one), nor pages of a mapped store.
  std::size_t max_memory_bytes = 0;
  /// Batches in the ring, those the caller holds included; at least 2. 0 = one to hold, one ready, and two being filled
  /// (more where batches have fewer rows than there are threads), or what `max_memory_bytes` allows.
  unsigned depth = 0;
  /// Batches on a device, those the caller holds included; at least 2. 0 = 3: one to hold, one ready, one being copied,
  /// or what `max_device_bytes` allows.
  unsigned device_depth = 0;
  /// Limit in bytes of each device's memory, for batches; 0 = no limit.
  std::size_t max_device_bytes = 0;
  /// How `device_depth` and `max_device_bytes` are reached. Memory that was taken is kept as long as the loader.
  Growth growth = Growth::preallocate;
  /// Limit in bytes of the host's memory that a device reads by itself, in which `depth` batches lie; 0 = no limit but
  /// `max_memory_bytes`, which counts them as well.
  std::size_t max_pinned_bytes = 0;
  /// Bytes for finished samples that wait until those before them are decided, in a pipeline with filter, flat_map,
  /// drop or a stream; 0 = as many as one batch has. Never fewer than 4 samples a runner.
  std::size_t max_reorder_bytes = 0;
  /// Bytes for decoded blocks that are kept for the records that share them (a source of blocks); 0 = 512 MiB, or what
  /// `max_memory_bytes` allows, half of it at most, but 8 MiB. A record whose blocks need more is a bad sample. The
  /// readers of stand-ins for bad samples keep blocks of their own beside these: 8 MiB each, and what the record in
  /// work needs. What is known of the blocks of records to come takes up to 16 MiB more.
  std::size_t max_block_bytes = 0;
  /// Where batches on the one device come from, of its own memory, for a limit that loaders share; must outlive the
  /// loader and its batches. Default: `device_memory(device)`.
  MemoryResource* device_resource = nullptr;
  /// Where batch buffers come from; default: penstock::host_memory(), for a device its pinned memory, which no other
  /// copies from as fast. Where none can be pinned, ordinary memory, which the report notes.
  MemoryResource* host_memory = nullptr;
  /// Epochs that batches are made of: after so many nothing is read ahead, and `next()` gives nothing, which the report
  /// notes; 0 = they never end.
  std::uint64_t epochs = 0;
  /// Chooses, while the first batches come, what is 0 of `threads`, `depth`, `max_reorder_bytes` and `max_block_bytes`.
  /// It begins as without `tune`, tries what the counters say that runners lack, and keeps what makes batches faster,
  /// until nothing does, or the caller no longer waits. That takes some seconds; with blocks, until their memory was
  /// filled three times. Batches and states are the same as without. Runners become at most as many as the executor has
  /// threads; one of the loader's own then has twice as many as there are cores, at least 16. Memory that is added
  /// comes from half of what `max_memory_bytes` leaves beside all else, which is then not there for a sample, or rows
  /// of any size, that need much; without that limit it is as much as all else takes, at least 1 GiB. A caller may not
  /// hold more batches than it may without. `Report::tuning` tells what was done.
  bool tune = false;
  /// Slices of the timeline that are kept of each of its lines, the latest ones, for `Loader::write_trace`: 32 bytes
  /// each, beside `max_memory_bytes`; at most 2^26; 0 = no timeline.
  std::size_t trace = 0;
  /// When it is requested, `next()` returns nothing more.
  std::stop_token stop = {};
};

/// What is known of a batch that was copied elsewhere.
struct BatchCopied {
  /// Rows, those of padding not counted.
  std::uint64_t rows = 0;
  /// Number of the epoch, and of the batch in its epoch, both from 0.
  std::uint64_t epoch = 0, number = 0;
  std::vector<std::uint64_t> indices;  ///< source index of each row, as `Batch::indices`
  std::vector<std::uint8_t> mask;      ///< 1 for each real row, else 0, as `Batch::mask`
};

class Loader;

/// One epoch's batches, as an input range: `for (Batch& batch : loader.epoch())`. The batch is given back when the loop
/// goes on, unless it was moved out of the reference. One thread at a time, which is the loader's.
///
/// It ends with its epoch, whoever ended that: the last batch, `end_epoch()`, a stop. Once another epoch was begun, by
/// `epoch()` or by a `next()` after the end, or a state was resumed, there is nothing that it could go on with: then
/// `begin()` and `++` throw Error(invalid_argument) that names both epochs. So loops over one loader don't nest.
class PENSTOCK_API EpochRange {
 public:
  /// An input iterator: it stands at one batch, and goes on with `++`.
  class PENSTOCK_API iterator {
   public:
    /// What it gives.
    using value_type = Batch;
    /// Type of the difference of two iterators: of no use here, but the standard library asks for it.
    using difference_type = std::ptrdiff_t;
    /// It can be gone through once.
    using iterator_concept = std::input_iterator_tag;
    /// The batch it stands at; valid until `++`.
    Batch& operator*() const noexcept { return range_->current_; }
    /// A member of the batch it stands at; valid until `++`.
    Batch* operator->() const noexcept { return &range_->current_; }
    /// Gives the batch back and waits for the next one. @throws as `Loader::next`.
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    /// Gives the batch back and waits for the next one. @throws as `Loader::next`.
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept { return it.done(); }

   private:
    friend class EpochRange;
    explicit iterator(EpochRange* range) : range_(range) {}
    bool done() const noexcept { return range_->done_; }
    EpochRange* range_;
  };
  /// The epoch's next batch: its first, or, where a loop was left, the one after the last that was delivered.
  /// @throws as `Loader::next`.
  iterator begin();
  /// Where the epoch ends: an iterator equals it once no batch is left.
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

/// The running object: prefetches on its threads while the caller computes. Nothing runs before the first batch is
/// asked for. One thread at a time, but for `report()`, `write_trace()` and `stop()`, which any thread may call.
/// Move-only.
///
/// The loader stands at one batch: that which `next()` would give, `state()` names, and a loop would show. Leaving a
/// loop moves nothing: `next()`, or a second loop over the same range, goes on with what is left of the epoch, and so
/// does a loader that resumes a state saved there. What is left is given up by `epoch()`, which begins the next epoch,
/// and by `end_epoch()`; from then on a state names the next epoch's first batch. (After an error alone a state still
/// names the batch that failed, so that it can be tried again.)
///
/// Leaving a loop early, an exception, and destruction at any moment are ordinary: they return once the samples in work
/// are done. In a child made by fork() every call that would run or read something throws Error(forked), a new loader
/// included, and destruction does nothing. A loader that was moved from may be assigned to or destroyed.
class PENSTOCK_API Loader {
 public:
  /// Checks everything, resolves the byte table, allocates the ring.
  /// @throws Error(schema_mismatch | invalid_argument) for a pipeline without `batch`, with a field of varying shape,
  /// of which no batch can ever come (an empty source, fewer samples than rows with Tail::drop), or for more than
  /// 16,384 threads; Error(out_of_memory) with the byte table when `max_memory_bytes`, `max_pinned_bytes` or
  /// `max_device_bytes` is too small, or the device has no more; Error(unsupported) for a device without support, and
  /// for stages after `batch` where fields are padded to the longest row; Error(schema_mismatch) where images have
  /// sizes of their own after the last stage; Error(device).
  explicit Loader(Pipeline pipeline, LoaderOptions options = {});
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Begins the next epoch: the first, the one after the last one begun, or, after `resume`, what is left of the one
  /// the state names. What the epoch before still had is given up, and ranges over it are stale. The range borrows the
  /// loader. @throws Error(invalid_argument | unsupported) for streams as `next` does, which give nothing up.
  [[nodiscard]] EpochRange epoch(StreamRef stream = {}) &;
  EpochRange epoch(StreamRef stream = {}) && = delete;  // the loader would be gone in the loop: give it a name
  /// Gives up what is left of the epoch that was begun, or resumed: the next `epoch()` or `next()` begins the one after
  /// it, and `state()` names that one's first batch. (With `Rank::steps_per_epoch` the data go on after the last
  /// batch that was delivered.) Nothing where none is begun.
  void end_epoch();
  /// The next batch, or nothing at the end of the epoch (once; then the next epoch begins) and after a stop.
  ///
  ///     while (auto batch = loader.next()) {
  ///       train_on(batch->view<float, 4>("image"), batch->view<std::int64_t, 1>("label"));
  ///     }
  ///
  /// On a device, work enqueued on `stream` afterwards sees the batch; the host waits until its copy is enqueued, no
  /// longer. Without a stream it waits until the batch is there, and takes the lease's end for the end of its use.
  /// @throws Error of the first bad sample in order (the epoch ends there: `epoch()` begins the next one, `state()`
  /// still names the batch that failed); Error(quota_exceeded) at the end of an epoch whose samples were all bad;
  /// Error(leases_exhausted) when the caller holds the whole ring;
  /// Error(out_of_memory), before anything else of that batch, where its rows of any size don't fit `max_memory_bytes`;
  /// Error(invalid_argument) for a stream of another device, Error(unsupported) for one that is being captured,
  /// Error(device): after these three the batch is still the next one, but where its copy failed: then the epoch ends.
  /// Error(limit_exceeded) where the two threads that serve a device can't be started.
  std::optional<Batch> next(StreamRef stream = {});

  /// The next batch of a loader with several `devices`, shared out: part d is on device d and has rows / devices of the
  /// batch's rows, the first ones one more where they don't come out even, in order. All parts or an error. `streams`:
  /// one for each device, as with `next`. Each part is a lease of its own; `batch.size()` are its own rows, and
  /// `batch.global_size()` those of all parts (and ranks), so that gradients can be weighted by what each part has.
  /// @throws as `next`; Error(limit_exceeded) as `few_rows` says.
  std::optional<std::vector<Batch>> next_parts(std::span<const StreamRef> streams);

  /// The next batch, copied to `to`, memory of the caller's where its batches end up: the same addresses each time, for
  /// callers that captured work on them into a graph. `to` has a tensor for each field, in the schema's order, with its
  /// dtype, its shape, and as many rows as the largest batch; rows after the batch's stay as they are. On a device the
  /// copies are enqueued on `stream`, one of its own, and nothing is waited for. No lease is left. None at the end of
  /// the epoch.
  /// @throws as `next`; Error(schema_mismatch | unsupported | invalid_argument) for other tensors, for ragged fields,
  /// and for the host's stream and a batch on a device: then the batch is still the next one. Error(device): it is not.
  std::optional<BatchCopied> next_into(std::span<const TensorView> to, StreamRef stream = {});

  /// Names the batch that `next()` would give: the one after the last delivered; after an epoch's last, the next
  /// epoch's first. (Where filters or the like decide what is a sample, it may name what is left of the epoch instead,
  /// in which then no batch is.) After an error it names the batch that failed. 64 bytes. @throws Error(limit_exceeded)
  /// from epoch 2^32 on.
  State state() const;
  /// Goes on at the batch that `state` names with the next `epoch()` or `next()`, at any thread count and depth, on any
  /// number of ranks (with `Rank::steps_per_epoch`: as the same rank of as many). @throws Error(state_mismatch) that
  /// says what differs: seed, source, orders, stages, or the rest.
  void resume(const State& state);
  /// Writes `state()` to a file, as `save_state` does, and after it, for people, the pipeline in words.
  /// @throws as `state` and `save_state`.
  void save(const std::string& file) const;
  /// Goes on where `save` was called. @throws as `load_state` and the other `resume`; of a file with words
  /// Error(state_mismatch) says which stage or option differs, and how.
  void resume(const std::string& file);
  /// Number of the epoch that the next batch belongs to.
  std::uint64_t epoch_number() const noexcept;

  /// Wakes a waiting `next()`, which returns nothing from now on; where it makes samples itself (`threads`), after the
  /// one in work. Any thread.
  void stop() noexcept;

  /// The pipeline that it runs.
  const Pipeline& pipeline() const noexcept;
  /// Batches an epoch, the same on every rank. @throws as `Pipeline::steps_per_epoch`.
  std::uint64_t steps_per_epoch() const;
  /// What happened so far, and what was slow. From any thread.
  Report report() const;
  /// Writes what was done lately, and when, to a file that chrome://tracing and Perfetto open: a line for each runner,
  /// with its samples and their stages, loads of blocks and the settling of what waited for older samples; for each
  /// batch of the ring, whether it is being filled, ready, or held; for asking the order; for runners without work, and
  /// why; for `next()`; for each device. `LoaderOptions::trace` says how much is kept of each. From any thread.
  /// @throws Error(invalid_argument) without that; Error(not_found | io) that names the file, which may be incomplete.
  void write_trace(const std::string& file) const;

  class Impl;

 private:
  friend class EpochRange;
  std::shared_ptr<detail::DeviceModel> device() const noexcept;  // null: the host
  void begin_epoch();
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
