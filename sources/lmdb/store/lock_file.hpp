#pragma once

#include <cstdint>
#include <string>

namespace penstock::lmdb {

inline constexpr unsigned reader_slots = 1022;

/// What LMDB's lock file has with so many slots, each on a line of the processor's cache of its own.
inline constexpr std::uint64_t lock_file_bytes = std::uint64_t{64} * (reader_slots + 2);

/// What came of a reservation.
struct LockFileRoom {
  int code = 0;         ///< the system's error code where it failed: no room, no permission
  bool in_use = false;  ///< where it failed: somebody has the store open by this file
  bool no_room() const noexcept;
};

/// Makes the lock file where it is missing, and has the disk keep room for all of it. LMDB maps it without: a page of
/// it that a full disk has no room for ends the process by a signal when it is touched. To be called before the store
/// is opened, and not while this process has it open.
LockFileRoom reserve_lock_file(const std::string& file);

/// Whether a process, but this one, has the store open by this lock file. True too where nobody can tell. Nothing is
/// written. Not to be called while this process has the store open.
bool lock_file_in_use(const std::string& file) noexcept;

}  // namespace penstock::lmdb
