// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Threads that loaders run on. A handle: copies share the threads. Loaders that share an executor (training and
/// validation) share its threads about equally, because runners without work give their threads up. Any thread.
class PENSTOCK_API Executor {
 public:
  /// Makes an executor with `threads` threads. Default (0): the number of cores - 1, at least 1; then no process-wide
  /// setting is changed. An explicit number is requested from oneTBB even if oneTBB by itself would start fewer.
  ///
  /// The threads are started here, as far as oneTBB starts them at once, and wait for work. When the executor is
  /// destroyed, they fall asleep until the next executor uses them; `tbb::finalize` does not end them. The largest of
  /// three numbers limits how many threads oneTBB runs: 256, four per core, and what the first executor of the process
  /// requested. If more are requested, a loader's report shows how many were seen.
  ///
  /// The system may let the process start fewer threads (RLIMIT_NPROC, or the pids limit of a control group). Then the
  /// executor has only these, and `threads()` is at least 1 even if none could be started. Threads that wait for a
  /// loader's batches make samples themselves, and reports say so.
  /// @throws Error(invalid_argument) for more than 16,384 threads; Error(out_of_memory); Error(forked) in a child, made
  /// by fork(), of a process that had begun to use threads.
  explicit Executor(unsigned threads = 0);

  /// Number of threads that it has.
  unsigned threads() const noexcept;

  class Impl;
  /// For code of the library only.
  Impl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock
