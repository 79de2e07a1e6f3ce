#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock {

/// What one stage did. Times are measured in one chain of 64 and scaled.
struct StageReport {
  /// The stage and the field it works on, as in `Pipeline::plan()`.
  std::string name;
  /// Samples that it was run for.
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;        ///< bytes that it wrote
  double cpu_us_per_sample = 0;   ///< microseconds of its thread's CPU time
  double wait_us_per_sample = 0;  ///< microseconds in which its thread gave up its core: for a disk, a lock, a network
  double share = 0;               ///< its share of all stages' CPU time, 0 to 1
};

/// What reading from one file took. From measured samples, of which each runner keeps 256, drawn at random from all of
/// the run; in a report of a part of it, as after `tune`, from its last 256. From loads of blocks instead, where those
/// take longer than the rest of reading.
struct FileReport {
  /// The file, as errors name it.
  std::string name;
  std::uint64_t measured = 0;  ///< samples, or blocks, of it that were measured
  double read_us = 0;          ///< microseconds to read a record, or to load a block of it, waiting included: the mean
  double share = 0;            ///< its share of the time of all readings, or loads, as the measured ones tell, 0 to 1
  bool of_blocks = false;      ///< blocks were measured
};

/// A row of the byte table: what the loader's memory is for.
struct MemoryRow {
  /// What the memory is for.
  std::string name;
  /// How many there are.
  std::uint64_t count = 0;
  /// Bytes of each.
  std::uint64_t bytes_each = 0;
  /// Bytes of all.
  std::uint64_t bytes() const noexcept { return count * bytes_each; }
};

/// Why runners had nothing to do.
enum class Idle : std::uint8_t {
  caller,        ///< the next batch was ready, and the caller had not come for it
  pause,         ///< the same, where the caller was away for much longer than a batch takes: validation, a checkpoint
  leases,        ///< the caller, or copies to a device, held all batches
  straggler,     ///< batches after the next one were ready, but a sample of that one was still in work
  buffers,       ///< all samples of the batches in work were begun, and there was no batch for others
  entries,       ///< a reordered pipeline: every entry of the reorder buffer held a sample that waited for an older one
  blocks,        ///< the blocks that samples need were being loaded
  block_memory,  ///< there was no memory for the blocks that samples need
  stream,        ///< another runner read the stream, which one does at a time
  order,         ///< the order was being asked which records come next, or the source which blocks these need
  threads,       ///< there was work, and the executor had not brought a thread for it yet
};

/// The word for it: "caller", "block_memory".
PENSTOCK_API const char* to_string(Idle why) noexcept;

/// One reason, and how much of the runners' time went by with it.
struct IdleShare {
  /// Why runners had nothing to do.
  Idle why = Idle::caller;
  /// Share of the time of all runners that there may be, 0 to 1, from the first `next()` to the last. Time in which
  /// nothing is left to be made, as at the run's end, is no part of it.
  double share = 0;
};

/// What a thread waits for, as the system shows it.
enum class Wait : std::uint8_t {
  lock,     ///< a mutex, a condition variable, or another thread otherwise (a futex)
  sleep,    ///< time to pass
  read,     ///< a system call that reads from a file, or looks for one
  page,     ///< a page that is not in memory, of a mapped file mostly
  network,  ///< a socket, or one of several descriptors
  other,    ///< something else
};

/// The word for it: "lock", "page".
PENSTOCK_API const char* to_string(Wait what) noexcept;

/// One kind of waiting, and how much of it there was.
struct WaitShare {
  /// What runners waited for.
  Wait what = Wait::other;
  /// Share of the looks at runners in work, 0 to 1, that found one waiting for this.
  double share = 0;
};

/// Time that a device's stream spent on one thing. Where many batches are in work at once, some of them are timed and
/// stand for the others.
struct StreamTime {
  /// Batches that were timed; 0: nothing is known.
  std::uint64_t timed = 0;
  double us = 0;     ///< microseconds for a batch: the mean
  double share = 0;  ///< share of `Report::seconds`, 0 to 1
};

/// What the batches took on their way to one device, by events on its streams.
struct DeviceReport {
  /// The device, as in "gpu 0".
  std::string name;
  StreamTime copies;            ///< copies to the device; with rows of any size and stages after `batch`, the
                                ///< larger of the two that a batch then takes
  double copy_bytes_per_s = 0;  ///< bytes per second while it copies
  StreamTime stages;            ///< the stages after `batch`
  /// Copies waited for memory of the device's: for the caller's work there on an earlier batch, or for the stages'.
  StreamTime buffer;
  /// The caller's stream had come to the call of `next()` and waited there: it had nothing else to do. Not known of a
  /// caller that takes batches on the host's own stream: it waits itself.
  StreamTime starved;
};

/// What the thread that sends batches to devices waits for: shares of `Report::seconds`.
struct SendReport {
  double batch_share = 0;  ///< for the next batch to be made
  double buffer_share = 0;  ///< with a batch: for a buffer on the device, as the caller had not taken or still held all
  double read_share = 0;   ///< for devices to have read batches of the host's
  double call_share = 0;   ///< for nothing: it packed rows of any size, and was in calls of the device
};

/// One thing that `LoaderOptions::tune` tried.
struct TuneStep {
  /// The option of the loader's that was tried with another value.
  std::string setting;
  std::uint64_t from = 0, to = 0;   ///< its value before and in the trial
  double before_samples_per_s = 0;  ///< samples per second that were delivered before
  double after_samples_per_s = 0;   ///< samples per second in the trial; 0: it was not measured
  bool kept = false;                ///< the loader went on with it
  std::string why;                  ///< what spoke for it
};

/// What `LoaderOptions::tune` did.
struct TuneReport {
  bool done = false;  ///< nothing is tried any more
  std::string end;    ///< why not
  /// Batches and samples that were delivered before the loader had the options that it has now.
  std::uint64_t batches = 0, samples = 0;
  double seconds = 0;  ///< seconds that this took
  /// What was tried, in that order.
  std::vector<TuneStep> steps;
  unsigned threads = 0, depth = 0;      ///< the options as they are now
  std::uint64_t max_reorder_bytes = 0;  ///< the same; 0: the pipeline needs none of it
  std::uint64_t max_block_bytes = 0;    ///< the same; 0: the source has no blocks
};

/// What bounded the run.
enum class Bound : std::uint8_t {
  unknown,          ///< too few batches to tell, or no one thing
  consumer,         ///< batches waited for the caller
  cpu,              ///< the chain's own stages used the threads up
  storage,          ///< runners waited for the source
  waiting,          ///< runners waited in another stage, which the verdict names
  lock,             ///< the same, for one another: a lock lets one go on at a time
  stragglers,       ///< single slow samples kept the others waiting
  buffers,          ///< there were too few batches for the runners to write to
  entries,          ///< the reorder buffer had too few entries for samples that wait for older ones
  blocks,           ///< runners waited for blocks, or for memory for them
  stream,           ///< the source's stream, which one runner reads at a time
  order,            ///< asking the order which records come next
  memory,           ///< a limit of memory left fewer runners than were wanted, and those are used up
  copies,           ///< copies to the device
  sink,             ///< what `write` stores into
  device,           ///< batches waited for a buffer on the device: for the stages there, or it is not known for what
  threads,          ///< the executor brought too few threads
  cores,            ///< there are more threads than cores, and those are used up
  other_processes,  ///< runners waited for cores that other processes had
};

/// What happened, and what was slow. A plain value, taken at one moment.
///
/// A run of `write` (`sink` is not empty) has no batches. Its `samples`, `bytes` and `samples_per_s` are of samples
/// that were stored. `seconds` is the time from its begin to its last commit, without that in which nothing was in work
/// and what was there already was passed over. `consumer_wait_share` is the share of it in which the calling thread,
/// which stores, waited for samples or made some meanwhile.
struct PENSTOCK_API Report {
  // -- what was delivered, and how fast --
  std::uint64_t batches = 0, samples = 0;  ///< batches and samples that were delivered
  std::uint64_t bytes = 0;                 ///< bytes of delivered batches
  std::uint64_t copied_bytes = 0;          ///< bytes copied because no stage could write in place, or
                                           ///< a row had to wait for its turn
  std::uint64_t errors = 0;                ///< bad samples a policy acted on in this loader, not those a state brought
  double seconds = 0;                      ///< seconds from the first `next()` to the last
  double first_batch_s = 0;                ///< seconds from the first `next()` to its return
  double samples_per_s = 0;                ///< delivered samples, over `seconds`
  double limit_samples_per_s = 0;          ///< threads, or cores (or their quota) where there are fewer, ÷ CPU
                                           ///< seconds a sample of the chain's own stages
  std::uint64_t limit_chains = 0;          ///< measured chains that the limit was estimated from
  double cpu_s_per_1000 = 0;               ///< CPU seconds of the chain's stages per 1,000 samples

  // -- where it went --
  std::string device;       ///< where batches end up: "host", or a device and what it is
  std::string sink;         ///< what `write` stored into; empty: a loader's report
  double commit_share = 0;  ///< share of `seconds` in which its sink committed

  // -- the caller --
  double next_p50_s = 0, next_p99_s = 0;  ///< seconds inside `next()`: median and 99th percentile
  double consumer_wait_share = 0;         ///< share of `seconds` that the caller spent inside `next()`

  // -- runners, and the cores that they had --
  unsigned threads = 0;          ///< runners that there may be
  unsigned threads_wanted = 0;   ///< runners that there would be without a limit of memory
  unsigned threads_seen = 0;     ///< most runners alive at once
  unsigned cores = 0;            ///< cores that this process may use
  double core_quota = 0;         ///< how many cores' time a quota of its control group leaves it; 0 = no quota
  double runner_idle_share = 0;  ///< share of threads x seconds in which runners were not in work
  double runner_wait_share = 0;  ///< share of the chains' time in which they had given up their core
  /// Why runners had nothing to do, the largest share first; reasons below one in a thousand are left out.
  std::vector<IdleShare> idle;
  /// What runners in work waited for, the largest share first: one or a few of them are looked at where batches are
  /// delivered, at most every 5 ms. Empty where none waited, or the system does not show it.
  std::vector<WaitShare> waits;
  std::uint64_t wait_looks = 0;  ///< looks at runners in work
  /// Share of the runners' time, and of the calling thread's since its first `next()`, in which they were ready to run
  /// but had no core. None where the kernel does not count it, or it could not be looked at long enough.
  std::optional<double> runner_delay_share, caller_delay_share;
  /// Share that this process had of the time of all cores that it may use, from the first `next()` to about the last,
  /// and share of all others together with the kernel's own threads. None where the system does not show it, or in a
  /// run below 0.2 s. In a container "all others" may be those inside alone.
  std::optional<double> own_core_share, other_core_share;

  // -- samples: reading, stages, blocks --
  double sample_p50_s = 0, sample_p99_s = 0;  ///< seconds that one sample takes, waiting included: median and 99th
                                              ///< percentile of the measured ones; 0 where none was
  /// What reading takes, by file, the largest share first, at most 16; empty where all records come from one file, from
  /// a stream, or from so many files that hardly any was measured four times.
  std::vector<FileReport> files;
  /// What each stage did, in the order of the pipeline.
  std::vector<StageReport> stages;
  std::uint64_t block_decodes = 0;  ///< blocks of the source that were decoded; 0 where records share none
  std::uint64_t block_uses = 0;     ///< how often samples needed one
  /// How many of `block_decodes` twice the `max_block_bytes` would have saved. An estimate, unless all blocks have one
  /// size and every record needs all of its blocks.
  std::uint64_t block_decodes_saved = 0;

  // -- devices and memory --
  /// What batches took on their way to each device; empty on the host.
  std::vector<DeviceReport> devices;
  /// What sending them waited for; none on the host.
  std::optional<SendReport> sending;
  /// What the loader's memory is for.
  std::vector<MemoryRow> memory;
  std::uint64_t batch_allocations = 0;  ///< memory blocks allocated for batches, in all

  // -- what that means, in words --
  /// What bounded the run.
  Bound bound = Bound::unknown;
  std::string verdict;  ///< one or two sentences
  std::string besides;  ///< the largest cause that the verdict does not speak of, in a sentence; or empty
  /// What bounds the last seconds (5 to 10, or a few batches that took longer), in sentences, where that is something
  /// else, or they are a fifth slower or faster than the whole; empty where they are not, or the run has not been twice
  /// as long.
  std::string lately;
  /// What was tried to make it faster; none without `LoaderOptions::tune`. All else here is of the run since it has the
  /// options that it has now, but for `first_batch_s`, `errors`, `threads_seen`, `caller_delay_share`, the times of
  /// samples and files, `memory` and `batch_allocations`.
  std::optional<TuneReport> tuning;
  std::vector<std::string> notes;  ///< warnings, and decisions worth knowing

  /// For a person: verdict, table of stages, memory, notes.
  std::string text() const;
  /// For a program: one JSON object with the fields above.
  std::string json() const;
};

}  // namespace penstock
