// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

namespace penstock::hdf5 {

class RemoteAccess;

/// Limits how many files of a source have a process, so that thousands of files do not have thousands of processes. If
/// there are more than `most`, the process that was asked longest ago is ended, and started again when it is asked. Any
/// thread.
class RunningReaders {
 public:
  static constexpr std::size_t most = 64;

  /// Notes that `access` is being asked; it holds its own mutex.
  void used(RemoteAccess& access);
  void forget(RemoteAccess& access);

 private:
  std::mutex mutex_;
  std::list<RemoteAccess*> latest_first_;
};

}  // namespace penstock::hdf5
