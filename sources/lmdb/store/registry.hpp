// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "store/environment.hpp"
#include "store/files.hpp"
#include "store/writers_lock.hpp"

namespace penstock::lmdb {

/// Returns the environment that this process has open for these files, or opens it. All readers of a store share one
/// environment, because closing a second one would release the locks of the first. Stores are distinguished by device
/// and inode, not by path. @throws Error(invalid_argument) if this process is writing to the store; Error like
/// `Environment::for_reading` and `Environment::join`.
std::shared_ptr<Environment> share_for_reading(const StoreFiles& files, bool read_ahead, bool lock_file = true);
/// Takes the lock that a writer needs before `own_for_writing`. @throws Error(invalid_argument) if the store is open in
/// this process; Error like WritersLock.
std::unique_ptr<WritersLock> lock_for_writing(const StoreFiles& files);
/// Opens a store for writing. @throws Error(invalid_argument) if the store is open in this process.
std::shared_ptr<Environment> own_for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                             std::unique_ptr<WritersLock> lock);

/// Registers fork handlers for environments. All code that opens an environment calls this. Code that opens
/// environments under a mutex of its own must also lock that mutex before a fork. It must call this first and register
/// its own handler after that, because the handler that is registered last locks first.
void watch_forks_of_environments();

extern std::atomic<std::uint32_t> forks_seen;

/// Returns a number that differs between a process and its children made by fork().
inline std::uint32_t process_generation() noexcept { return forks_seen.load(std::memory_order_relaxed); }

}  // namespace penstock::lmdb
