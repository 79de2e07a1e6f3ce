// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "store/files.hpp"

namespace penstock::lmdb {

/// Thrown if another process has the writers' lock.
class LockedElsewhere : public Error {
 public:
  using Error::Error;
};

/// The lock of a store's writer, on the data file, which is created if it is missing. Taken before anything else, and
/// held until everything is closed.
class WritersLock {
 public:
  /// Empties a data file that holds nothing. @throws LockedElsewhere, Error(io | not_found).
  explicit WritersLock(const StoreFiles& files);

  /// Returns whether there was no data file, or an empty one, when the lock was taken.
  bool found_nothing() const noexcept { return found_nothing_; }

 private:
  FileLock lock_;
  bool found_nothing_ = false;
};

/// Returns the text for LockedElsewhere, and for a reader that finds such a lock.
std::string busy_text(const StoreFiles& files);

}  // namespace penstock::lmdb
