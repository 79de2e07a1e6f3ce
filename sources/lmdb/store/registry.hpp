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

/// Returns the environment that this process has open for these files, or opens it. Environments are known by device
/// and inode, because closing a second one would drop the locks of the first. All readers of a store share one
/// environment. @throws Error(invalid_argument) if this process is writing to it, or like `Environment::join`.
std::shared_ptr<Environment> share_for_reading(const StoreFiles& files, bool read_ahead, bool lock_file = true);
/// Takes the lock that must come before writing. @throws Error(invalid_argument) if the store is open in this process;
/// like WritersLock.
std::unique_ptr<WritersLock> lock_for_writing(const StoreFiles& files);
/// @throws Error(invalid_argument) if the store is open in this process.
std::shared_ptr<Environment> own_for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                             std::unique_ptr<WritersLock> lock);

/// Registers fork handlers for environments; all code that opens one calls it. Some code opens environments under its
/// own mutex and locks that mutex before a fork. It must call this before it registers its handler, because the handler
/// that is registered last locks first.
void watch_forks_of_environments();

extern std::atomic<std::uint32_t> forks_seen;

/// Returns a number that differs between a process and its children made by fork().
inline std::uint32_t process_generation() noexcept { return forks_seen.load(std::memory_order_relaxed); }

}  // namespace penstock::lmdb
