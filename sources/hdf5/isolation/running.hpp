#pragma once

#include <cstddef>
#include <list>
#include <mutex>

namespace penstock::hdf5 {

class RemoteAccess;

/// Which files of a source have a process, so that thousands of files do not have thousands: of more than `most`, that
/// which was asked longest ago is ended, and started again when it is asked. Any thread.
class RunningReaders {
 public:
  static constexpr std::size_t most = 64;

  /// Is asked now, and holds its own mutex.
  void used(RemoteAccess& access);
  void forget(RemoteAccess& access);

 private:
  std::mutex mutex_;
  std::list<RemoteAccess*> latest_first_;
};

}  // namespace penstock::hdf5
