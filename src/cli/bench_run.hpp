#pragma once

#include <cstdint>
#include <string>

#include <penstock/pipeline.hpp>
#include <penstock/report.hpp>

namespace penstock::cli {

struct RunOptions {
  unsigned threads = 1;
  std::uint64_t epochs = 1;
  std::size_t memory = 0;
  unsigned depth = 0;
  bool hash = false;
  bool quiet = false;
};

/// What one loader did, from its construction to the end of its last epoch.
struct Run {
  unsigned threads = 0;
  std::uint64_t samples = 0;
  double seconds = 0;  ///< of all epochs
  double samples_per_s = 0;
  double cpu_s_per_1000 = 0;         ///< the whole process, hash and progress bar included
  double first_batch_s = 0;          ///< the loader's construction included
  std::uint64_t peak_rss_bytes = 0;  ///< 0 where the system doesn't tell
  bool peak_is_of_run = false;       ///< false: of the process so far
  std::string hash;                  ///< of all batches; 16 hex digits, or empty
  std::string states_hash;           ///< of the loader's state after each batch; likewise
  Report report;
};

/// @throws penstock::Error.
Run run_once(const Pipeline& pipeline, const RunOptions& options);

}  // namespace penstock::cli
