#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "store/environment.hpp"
#include "store/files.hpp"
#include "store/writers_lock.hpp"

namespace penstock::lmdb {

/// The environments this process has open, by device and inode: opened twice, closing one would drop the locks of the
/// other. All readers of a store share one environment. @throws Error(invalid_argument) when it is being written to
/// here, or as `Environment::join`.
std::shared_ptr<Environment> share_for_reading(const StoreFiles& files, bool read_ahead, bool lock_file = true);
/// What comes before. @throws Error(invalid_argument) when the store is open in this process; as WritersLock.
std::unique_ptr<WritersLock> lock_for_writing(const StoreFiles& files);
/// @throws Error(invalid_argument) when the store is open in this process.
std::shared_ptr<Environment> own_for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                             std::unique_ptr<WritersLock> lock);

/// Called by all that open one. Whoever has a mutex in which environments are opened, and locks it before a fork, calls
/// this before it registers that: what is registered last is locked first.
void watch_forks_of_environments();

extern std::atomic<std::uint32_t> forks_seen;

/// A number that differs between a process and its children made by fork().
inline std::uint32_t process_generation() noexcept { return forks_seen.load(std::memory_order_relaxed); }

}  // namespace penstock::lmdb
