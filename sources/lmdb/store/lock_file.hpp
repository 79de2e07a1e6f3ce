// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::lmdb {

inline constexpr unsigned reader_slots = 1022;

/// Bytes of LMDB's lock file with `reader_slots` slots, each on its own cache line.
inline constexpr std::uint64_t lock_file_bytes = std::uint64_t{64} * (reader_slots + 2);

/// Result of `reserve_lock_file`.
struct LockFileRoom {
  int code = 0;         ///< 0, or the system's error code, for example for no room or no permission
  bool in_use = false;  ///< whether the reservation failed while another process has the store open through this file
  bool no_room() const noexcept;
};

/// Creates the lock file if it is missing, and reserves its disk space. LMDB maps the file without reserving space. If
/// a full disk then has no room for a page of the file, a signal ends the process when it uses that page. Call this
/// before the store is opened, and not while this process has it open.
LockFileRoom reserve_lock_file(const std::string& file);

/// Returns whether another process has the store open through this lock file. Returns true if that is unknown. Writes
/// nothing. Don't call this while this process has the store open.
bool lock_file_in_use(const std::string& file) noexcept;

}  // namespace penstock::lmdb
