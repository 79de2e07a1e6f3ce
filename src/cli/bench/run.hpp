// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/device.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/report.hpp>

namespace penstock::cli {

/// The settings that differ between runs of a sweep; 0 = the loader chooses.
struct Setting {
  unsigned threads = 1;
  unsigned depth = 0;
  std::size_t block_bytes = 0;  ///< LoaderOptions::max_block_bytes
  bool tune = false;            ///< the loader tunes the settings, including the threads
  bool operator==(const Setting&) const = default;
};

/// Returns for example "2 threads, depth 4", or "tuned".
std::string setting_text(const Setting& setting);

struct RunOptions {
  Setting setting = {};
  std::uint64_t epochs = 1;
  std::size_t memory = 0;
  Device device = host();                       ///< where batches are delivered
  double consumer_s = 0;                        ///< seconds that the loop spends on each batch, like a training step
  std::vector<std::string> dropped_files = {};  ///< files whose pages are dropped from memory before the run
  std::string trace = {};                       ///< file for the loader's timeline; empty: no timeline
  bool hash = false;
  bool quiet = false;
};

/// What happened in one part of a run.
struct RunInterval {
  double end_s = 0;  ///< seconds since the loader was constructed
  std::uint64_t samples = 0;
  double waited_s = 0;  ///< seconds that the loop waited for batches
};

/// What one loader did, from its construction to the end of its last epoch.
struct Run {
  Setting setting = {};
  double began_s = 0;  ///< seconds since 1970
  std::uint64_t epochs = 0, samples = 0, batches = 0;
  /// Seconds that the loader's construction took. A training program constructs a loader once, and creating a GPU's
  /// context may take up to a second. So no rate or share includes this time.
  double construction_s = 0;
  double seconds = 0;  ///< time of all epochs
  double samples_per_s = 0;
  double consumer_busy = 0;          ///< the share of the time that the loop spent on its batches
  double cpu_s_per_1000 = 0;         ///< CPU time of the whole process, including hash and progress bar, without the
                                     ///< construction
  double first_batch_s = 0;          ///< seconds to the first batch, including the loader's construction
  std::uint64_t peak_rss_bytes = 0;  ///< 0 if the system doesn't report it
  bool peak_is_of_run = false;       ///< the peak is this run's; otherwise it is the process's so far
  std::uint64_t disk_bytes = 0;      ///< bytes read from disks, including during the construction
  std::uint64_t file_bytes = 0;      ///< bytes of `dropped_files`
  std::vector<RunInterval> moments;  ///< the whole run, in at most 200 parts
  std::string hash;                  ///< hash of all batches, 16 hex digits; empty without `RunOptions::hash`
  std::string states_hash;           ///< one hash of the states that the loader has after each batch; see `hash`
  Report report;
};

/// Constructs a loader of `pipeline`, runs it for all epochs, and measures the run. @throws penstock::Error.
Run run_once(const Pipeline& pipeline, const RunOptions& options);

}  // namespace penstock::cli
