#pragma once

#include <memory>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Threads that loaders run on. A handle: copies share the threads. Loaders that share one (training and validation)
/// share its threads fairly enough: each has runners that give way when they have nothing to do. Any thread.
class PENSTOCK_API Executor {
 public:
  /// `threads` workers of its own; 0 = cores - 1, at least 1, and no process-wide setting is touched. With an explicit
  /// number that many are asked for, also where that is more than oneTBB would start. They are started here, as far as
  /// oneTBB does so at once, and wait. After the executor they stay, asleep, for the next one (`tbb::finalize` does not
  /// end them). oneTBB runs as many as the largest of 256, four a core, and what the first executor of the process
  /// asked for; of more, a loader's report says how many were seen. Where the system lets the process start fewer
  /// (RLIMIT_NPROC, the pids limit of a control group) it has those, at least in name one: loaders' callers then make
  /// batches themselves, and reports say so.
  /// @throws Error(invalid_argument) for more than 16,384; Error(out_of_memory); Error(forked) in a child of a process
  /// that had begun to use threads.
  explicit Executor(unsigned threads = 0);

  /// Threads that it was made for.
  unsigned threads() const noexcept;

  class Impl;
  /// For code of the library.
  Impl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock
