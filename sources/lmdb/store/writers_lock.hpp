#pragma once

#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "store/files.hpp"

namespace penstock::lmdb {

/// Another process has the lock of those who write.
class LockedElsewhere : public Error {
 public:
  using Error::Error;
};

/// The lock of who writes to a store, on its data file, which is made where it is missing. It is taken before anything
/// is looked at, and held until all is closed.
class WritersLock {
 public:
  /// Empties a data file that holds nothing. @throws LockedElsewhere, Error(io | not_found).
  explicit WritersLock(const StoreFiles& files);

  /// True where there was no data file when it was taken, or nothing in it.
  bool found_nothing() const noexcept { return found_nothing_; }

 private:
  FileLock lock_;
  bool found_nothing_ = false;
};

/// The text for LockedElsewhere, and for a reader that meets such a lock.
std::string busy_text(const StoreFiles& files);

}  // namespace penstock::lmdb
