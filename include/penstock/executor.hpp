// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Threads that loaders run on. An Executor is a handle: copies share the threads. Loaders that share an executor
/// (training and validation) share its threads about equally. A runner gives up its thread if it has no work, or after
/// 2 ms if other runners wait for a thread. Any thread.
class PENSTOCK_API Executor {
 public:
  /// Makes an executor with `threads` threads. Default (0): the number of cores - 1, at least 1. The default changes no
  /// process-wide setting of oneTBB if the system lets all threads start. An explicit number sets oneTBB's limit on
  /// threads for the whole process if oneTBB by itself would start fewer threads.
  ///
  /// The constructor starts the threads, which then wait for work; oneTBB may start some of them only later. When the
  /// executor is destroyed, its threads sleep until the next executor uses them; `tbb::finalize` does not end them. The
  /// number of threads that oneTBB runs is at most the largest of three numbers: 256, four per core, and what the
  /// process's first executor requested. If more threads are requested, a loader's report shows how many ran.
  ///
  /// The system may let the process start fewer threads than requested (RLIMIT_NPROC, or the pids limit of a control
  /// group). Then the executor has only the threads that could be started, but `threads()` is at least 1. The
  /// executor sets oneTBB's limit on threads for the whole process, so that oneTBB starts no more. If no thread could
  /// be started, a thread that waits for a loader's batch makes the samples itself. A loader's report says how many
  /// threads are missing.
  /// @throws Error(invalid_argument) if `threads` is above 16,384; Error(out_of_memory); Error(forked) in a child made
  /// by fork() if the parent had begun to use threads.
  explicit Executor(unsigned threads = 0);

  /// Number of threads that the executor has.
  unsigned threads() const noexcept;

  class Impl;
  /// For code of the library only.
  Impl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock
