// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock {

/// What one stage did. Times and bytes are measured for one sample of every 64, and scaled.
struct StageReport {
  /// The stage and the field it works on, like in `Pipeline::plan()`.
  std::string name;
  /// Number of samples that the stage ran for. If samples share a record, the stages that make this record count it
  /// once.
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;        ///< bytes that the stage wrote
  double cpu_us_per_sample = 0;   ///< microseconds of CPU time per sample that is kept
  double wait_us_per_sample = 0;  ///< microseconds per kept sample in which the stage waited for a disk, lock or
                                  ///< network, without a core
  double share = 0;               ///< the stage's share of the CPU time of all stages, 0 to 1
};

/// How long it took to read from one file. Each runner keeps the times of 256 measured samples, drawn at random from
/// the whole run. A report on a part of the run, like the one after `tune`, uses the last 256 measured samples. If
/// loading blocks takes longer than the rest of reading, the times are those of loading blocks.
struct FileReport {
  /// The file's name, like in errors.
  std::string name;
  std::uint64_t measured = 0;  ///< number of samples, or blocks, from this file that were measured
  double read_us = 0;          ///< mean microseconds to read a record, or to load a block, including waits
  double share = 0;            ///< the file's share of the measured time of all files, 0 to 1
  bool of_blocks = false;      ///< true if blocks were measured
};

/// One purpose of the loader's memory: a row of `Report::memory`.
struct MemoryPurpose {
  /// What the memory is for.
  std::string name;
  /// Number of pieces of memory for this purpose.
  std::uint64_t count = 0;
  /// Bytes of each piece.
  std::uint64_t bytes_each = 0;
  /// Bytes of all pieces together.
  std::uint64_t bytes() const noexcept { return count * bytes_each; }
};

/// Why runners had nothing to do.
enum class Idle : std::uint8_t {
  caller,     ///< the next batch was ready; the caller had not asked for it
  pause,      ///< like `caller`, for much longer than a batch takes: the caller ran a validation or saved a checkpoint
  leases,     ///< the caller, or copies to a device, held all batches
  straggler,  ///< a sample of the next batch was still being made; later batches were ready
  buffers,    ///< all samples of the batches being filled had been started; no other buffer was free
  entries,    ///< every entry of the reorder buffer held a sample that waited for an older one
  blocks,     ///< the blocks that samples need were being loaded
  block_memory,  ///< there was no memory for the blocks that samples need
  stream,        ///< another runner was reading the stream; only one runner can read it at a time
  order,         ///< the order had not returned the next records, or the source had not returned their blocks
  threads,       ///< there was work; the executor had not provided a thread for it yet
};

/// Returns the reason's name: "caller", "block_memory".
PENSTOCK_API const char* to_string(Idle why) noexcept;

/// One reason why runners had nothing to do, and how much of their time it cost.
struct IdleShare {
  /// Why runners had nothing to do.
  Idle why = Idle::caller;
  /// Share, 0 to 1, of the time of all runners that the run may have, from the first `next()` to the last. Time in
  /// which no work was left, for example at the end of the run, does not count.
  double share = 0;
};

/// What a thread waits for, according to the operating system.
enum class Wait : std::uint8_t {
  lock,     ///< a mutex, a condition variable, or another wait for a thread (a futex)
  sleep,    ///< time to pass
  read,     ///< a system call that reads from a file, or looks for one
  page,     ///< a page that is not in memory, usually of a mapped file
  network,  ///< a socket, or one of several descriptors
  other,    ///< something else
};

/// Returns the name of the wait: "lock", "page".
PENSTOCK_API const char* to_string(Wait what) noexcept;

/// One thing that runners waited for, and how often.
struct WaitShare {
  /// What runners waited for.
  Wait what = Wait::other;
  /// The loader looks at busy runners from time to time. Share of these looks, 0 to 1, in which the runner waited for
  /// `what`.
  double share = 0;
};

/// Time that a device's stream spent on one thing. If a stream has many batches in work, only some batches are timed,
/// and the others are assumed to take equally long.
struct StreamTime {
  /// Number of batches that were timed; 0: nothing is known.
  std::uint64_t timed = 0;
  double us = 0;     ///< mean microseconds per batch
  double share = 0;  ///< share of `Report::seconds`, 0 to 1
};

/// How long batches took on their way to one device, measured by events on its streams.
struct DeviceReport {
  /// The device, like "gpu 0".
  std::string name;
  StreamTime copies;            ///< copies to the device; if rows differ in size and stages follow `batch`, a batch
                                ///< takes two copies, of which only the larger is timed
  double copy_bytes_per_s = 0;  ///< bytes per second while a copy runs
  StreamTime stages;            ///< the stages after `batch`
  /// Time in which copies waited for memory of the device that was still in use by a stage, or by the caller's work on
  /// an earlier batch.
  StreamTime buffer;
  /// Time in which the caller's stream had reached the call of `next()` and had no other work. Not known if the caller
  /// takes batches on the host's stream, because the host itself waits then.
  StreamTime starved;
};

/// What the thread that sends batches to devices spent its time on, in shares of `Report::seconds`.
struct SendReport {
  double batch_share = 0;   ///< it waited for the next batch to be made
  double buffer_share = 0;  ///< it had a batch, and waited for a free buffer on the device: the caller had not taken
                            ///< the batches on the device, or still held them
  double read_share = 0;    ///< it waited for devices to read batches from the host
  double call_share = 0;    ///< it did not wait: it packed rows that differ in size, or was in calls of the device
};

/// What sources fetched over networks during the run, over the connections of all their clients. Includes what other
/// runs fetched with the same client.
struct FetchReport {
  double seconds = 0;                 ///< seconds over which the other members were counted: about `Report::seconds`
  std::uint64_t bytes = 0;            ///< bytes that arrived
  std::uint64_t reads = 0;            ///< all reads, also from a cache
  std::uint64_t waited_reads = 0;     ///< reads that had to wait for bytes
  double waited_s = 0;                ///< seconds that reads waited, of all threads together
  std::uint64_t retries = 0;          ///< requests that were repeated after a failure
  std::uint64_t not_kept = 0;         ///< fetched ranges that a cache could not keep: it was full, or its disk failed
  std::uint64_t connections = 0;      ///< the most connections that may be in use at a time
  double busy_connections = 0;        ///< how many were in use on average
  double full_share = 0;              ///< share of `seconds` in which all were in use: the largest share of any client
  double bytes_per_s = 0;             ///< bytes per second, of all connections together
  double connection_bytes_per_s = 0;  ///< bytes per second of one connection while it was in use
};

/// One thing that `LoaderOptions::tune` tried.
struct TuneTrial {
  /// The loader option that was tried with a different value.
  std::string setting;
  std::uint64_t from = 0, to = 0;   ///< the option's value before and during the trial
  double before_samples_per_s = 0;  ///< delivered samples per second before the trial
  double after_samples_per_s = 0;   ///< samples per second in the trial; 0: not measured
  bool kept = false;                ///< true if the loader kept the tried value
  std::string why;                  ///< why the value was tried
};

/// What `LoaderOptions::tune` did.
struct TuneReport {
  bool done = false;  ///< true if nothing more will be tried
  std::string end;    ///< why nothing more will be tried
  /// Batches and samples that were delivered before the loader had its present options.
  std::uint64_t batches = 0, samples = 0;
  double seconds = 0;  ///< seconds from the first delivered batch until the loader had its present options
  /// The trials, in order.
  std::vector<TuneTrial> trials;
  unsigned threads = 0, depth = 0;      ///< the loader's present options
  std::uint64_t max_reorder_bytes = 0;  ///< the present option; 0: the pipeline does not need it
  std::uint64_t max_block_bytes = 0;    ///< the present option; 0: the source has no blocks
};

/// What bounded the run.
enum class Bound : std::uint8_t {
  unknown,          ///< too few batches to decide, or several causes
  consumer,         ///< batches waited for the caller
  cpu,              ///< the chain's stages used all of the threads' time
  storage,          ///< runners waited for the source
  waiting,          ///< runners waited in another stage, which the verdict names
  lock,             ///< runners waited in a stage for each other: a lock lets only one run at a time
  stragglers,       ///< single slow samples made the others wait
  buffers,          ///< the ring had too few batches for the runners to write to
  entries,          ///< the reorder buffer had too few entries for samples that wait for older ones
  blocks,           ///< runners waited for blocks, or for memory for them
  network,          ///< runners waited for what a source fetches over a network
  stream,           ///< runners waited for the source's stream, which only one runner can read at a time
  order,            ///< runners waited for the order to return the next records
  memory,           ///< a memory limit allowed fewer runners than wanted, and these runners were always busy
  copies,           ///< batches waited for copies to the device
  sink,             ///< samples waited for the sink that `write` stores into
  device,           ///< batches waited for a buffer on the device, because of the stages there or for an unknown reason
  threads,          ///< the executor provided too few threads
  cores,            ///< there are more threads than cores, and the cores are fully used
  other_processes,  ///< runners waited for cores that other processes used
};

/// What happened, and what was slow. A plain value, taken at one moment.
///
/// The report of a run of `write` has no batches, and its `sink` is not empty. Its `samples`, `bytes` and
/// `samples_per_s` count stored samples. `seconds` is the time from the run's beginning to its last commit, without the
/// time in which `write` only skipped samples that the sink already has. `consumer_wait_share` is the share of
/// `seconds` in which the calling thread, which stores samples, waited for samples or made samples itself.
struct PENSTOCK_API Report {
  // -- what was delivered, and how fast --
  std::uint64_t batches = 0, samples = 0;  ///< batches and samples that were delivered
  std::uint64_t bytes = 0;                 ///< bytes of delivered batches
  std::uint64_t copied_bytes = 0;          ///< bytes that were copied because no stage could write in place, or
                                           ///< because a row had to wait for its turn
  std::uint64_t errors = 0;  ///< bad samples that a policy acted on in this loader, without those counted in a state
                             ///< that the loader resumed
  double seconds = 0;        ///< seconds from the first `next()` to the last
  double first_batch_s = 0;  ///< seconds that the first `next()` took
  double samples_per_s = 0;  ///< delivered samples divided by `seconds`
  /// Samples per second that the loader's threads could reach. It is a number of cores divided by the CPU seconds that
  /// the chain's stages take per sample. The number of cores is `core_quota`, or `cores` if there is no quota, but at
  /// most `threads`.
  /// For a stream, the limit is at most what one runner can read.
  double limit_samples_per_s = 0;
  std::uint64_t limit_chains = 0;  ///< number of measurements of the whole chain from which the limit was estimated
  double cpu_s_per_1000 = 0;       ///< CPU seconds of the chain's stages per 1,000 samples

  // -- where it went --
  std::string device;       ///< where batches end up: "host", or a device with its name
  std::string sink;         ///< what `write` stored into; empty in a loader's report
  double commit_share = 0;  ///< share of `seconds` in which the sink committed

  // -- the caller --
  double next_p50_s = 0, next_p99_s = 0;  ///< seconds inside `next()`: median and 99th percentile
  double consumer_wait_share = 0;         ///< share of `seconds` that the caller spent inside `next()`

  // -- runners, and the cores that they had --
  unsigned threads = 0;          ///< largest number of runners that the run may have
  unsigned threads_wanted = 0;   ///< value that `threads` would have without a memory limit
  unsigned threads_seen = 0;     ///< largest number of runners that existed at the same time
  unsigned cores = 0;            ///< cores that this process may use; with a `core_quota`: its value, rounded up
  double core_quota = 0;         ///< how many cores' time the quota of the process's control group allows; 0: there is
                                 ///< no quota, or it allows the time of all cores
  double runner_idle_share = 0;  ///< share of `threads` x `seconds` in which runners had no work
  double runner_wait_share = 0;  ///< share of the time of the chain's stages in which runners had given up their core
  /// Why runners had nothing to do, largest share first. Reasons below one in a thousand are left out.
  std::vector<IdleShare> idle;
  /// What busy runners waited for, largest share first. When a batch is delivered, at most every 5 ms, the loader looks
  /// at one or a few busy runners. Empty if none waited, or if the system does not show it.
  std::vector<WaitShare> waits;
  std::uint64_t wait_looks = 0;  ///< number of looks at busy runners
  /// Share of time in which the runners, or the calling thread since its first `next()`, were ready to run but had no
  /// core. None if the kernel does not count it, or if it could not be measured long enough.
  std::optional<double> runner_delay_share, caller_delay_share;
  /// Shares of the time of all cores that this process may use, from the first `next()` to about the last. The first is
  /// this process's share. The second is the share of all other processes and of the kernel's threads; in a container
  /// it may count only processes of the container. If `core_quota` is not 0, the first is a share of the quota, and the
  /// second is none. Both are none if the system does not show them, or if the run took less than 0.2 s.
  std::optional<double> own_core_share, other_core_share;

  // -- samples: reading, stages, blocks --
  double sample_p50_s = 0, sample_p99_s = 0;  ///< seconds that one sample takes, including waits: median and 99th
                                              ///< percentile of the measured samples; 0 if none was measured
  /// How long reading takes for each file, largest share first, at most 16 files. Empty if all records come from one
  /// file or from a stream, or if the source does not name its files. Also empty if the files were measured fewer than
  /// four times on average.
  std::vector<FileReport> files;
  /// What each stage did, in the order of the pipeline.
  std::vector<StageReport> stages;
  std::uint64_t block_decodes = 0;  ///< number of times that a block of the source was decoded; 0 without blocks
  std::uint64_t block_uses = 0;     ///< number of times that a sample needed a block
  /// Number of block decodes that twice the present `max_block_bytes` would have avoided. This is an estimate, unless
  /// all blocks have the same size and every record needs all of its blocks.
  std::uint64_t block_decodes_saved = 0;
  /// About how many block decodes were of a block that had been decoded in the same epoch already.
  std::uint64_t block_decodes_again = 0;

  /// What sources fetched over networks; none if no source fetches.
  std::optional<FetchReport> fetched;

  // -- devices and memory --
  /// How long batches took on their way to each device; empty on the host.
  std::vector<DeviceReport> devices;
  /// What the thread that sends batches to devices spent its time on; none on the host.
  std::optional<SendReport> sending;
  /// What the loader's memory is for.
  std::vector<MemoryPurpose> memory;
  std::uint64_t batch_allocations = 0;  ///< number of memory blocks that were allocated for batches

  // -- what that means, in words --
  /// What bounded the run.
  Bound bound = Bound::unknown;
  std::string verdict;  ///< what bounded the run, in one or two sentences
  std::string besides;  ///< the largest cause that the verdict does not mention, in a sentence; may be empty
  /// What bounds the last seconds of the run, in sentences. These are the last 5 to 10 s, or longer if a few batches
  /// took longer. Empty if the run took less than twice as long, or if it is not known what bounds the last seconds.
  /// Also empty if the same thing bounds the whole run, and the speed of the last seconds differs from the whole run's
  /// by less than a fifth.
  std::string lately;
  /// What was tried to make batches faster; none without `LoaderOptions::tune`. All other members count from the moment
  /// at which the loader got its present options. Exceptions, which may include earlier work: `first_batch_s`,
  /// `errors`, `threads_seen`, `caller_delay_share`, the times of samples and files, `memory` and `batch_allocations`.
  std::optional<TuneReport> tuning;
  std::vector<std::string> notes;  ///< warnings, and decisions worth knowing

  /// Returns the report for people: verdict, table of stages, memory, notes.
  std::string text() const;
  /// Returns the report for programs: one JSON object with the fields above.
  std::string json() const;
};

}  // namespace penstock
