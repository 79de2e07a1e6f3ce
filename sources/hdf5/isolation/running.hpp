// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

namespace penstock::hdf5 {

class RemoteAccess;

/// Limits how many files of a source have a process, so that thousands of files do not have thousands of processes. If
/// more than `most` files have a process, the idle process that was asked longest ago is ended. It is started again
/// when its file is needed. Any thread.
class RunningReaders {
 public:
  static constexpr std::size_t most = 64;

  /// Notes that a question is asked through `access`. REQUIRES: the caller holds the mutex of `access`.
  void used(RemoteAccess& access);
  void forget(RemoteAccess& access);

 private:
  std::mutex mutex_;
  std::list<RemoteAccess*> latest_first_;
};

}  // namespace penstock::hdf5
