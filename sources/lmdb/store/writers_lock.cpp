// SPDX-License-Identifier: Apache-2.0
#include "store/writers_lock.hpp"

#include <unistd.h>

#include <cerrno>

#include "store/errors.hpp"

namespace penstock::lmdb {

std::string busy_text(const StoreFiles& files) {
  return lock_holder(files.data) +
         " is writing to this store, or reads it without LMDB's lock file; wait until it is done, or stop it";
}

WritersLock::WritersLock(const StoreFiles& files) {
  if (!lock_.take(files.data, source_name)) {
    LockedElsewhere error(Errc::invalid_argument, busy_text(files));
    error.with_source(source_name).with_file(files.data);
    throw error;
  }
  found_nothing_ = holds_nothing(files);
  if (found_nothing_ && uninterrupted([&] { return ::truncate(files.data.c_str(), 0); }) != 0)
    throw write_error(errno, "emptying a store that was only begun", files.data, 0);
}

}  // namespace penstock::lmdb
