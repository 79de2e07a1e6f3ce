// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::lmdb {

inline constexpr unsigned reader_slots = 1022;

/// Bytes of LMDB's lock file with `reader_slots` slots, each on its own cache line.
inline constexpr std::uint64_t lock_file_bytes = std::uint64_t{64} * (reader_slots + 2);

/// Result of a reservation.
struct LockFileRoom {
  int code = 0;         ///< if it failed, the system's error code: no room, no permission
  bool in_use = false;  ///< it failed because a process has the store open through this file
  bool no_room() const noexcept;
};

/// Creates the lock file if it is missing, and reserves its disk space. LMDB maps the file without reserving: if a full
/// disk has no room for one of its pages, touching the page ends the process by a signal. Call before the store is
/// opened, and not while this process has it open.
LockFileRoom reserve_lock_file(const std::string& file);

/// Returns whether another process has the store open through this lock file; true also if that is unknown. Writes
/// nothing. Must not be called while this process has the store open.
bool lock_file_in_use(const std::string& file) noexcept;

}  // namespace penstock::lmdb
