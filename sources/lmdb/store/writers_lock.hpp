// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "store/files.hpp"

namespace penstock::lmdb {

/// Thrown if another process has locked the data file. It is a writer, or a reader that keeps writers out.
class LockedElsewhere : public Error {
 public:
  using Error::Error;
};

/// The lock of a store's writer, on the data file. A writer takes it before it looks at any file, and holds it until
/// everything is closed. A missing data file is created.
class WritersLock {
 public:
  /// Takes the lock. Then truncates the data file to 0 bytes if `holds_nothing` returns true. @throws LockedElsewhere,
  /// Error(io | not_found).
  explicit WritersLock(const StoreFiles& files);

  /// Returns whether the store held nothing when the lock was taken (`holds_nothing`).
  bool found_nothing() const noexcept { return found_nothing_; }

 private:
  FileLock lock_;
  bool found_nothing_ = false;
};

/// Returns the text for a LockedElsewhere, and for the error of a reader that finds another process's lock.
std::string busy_text(const StoreFiles& files);

}  // namespace penstock::lmdb
