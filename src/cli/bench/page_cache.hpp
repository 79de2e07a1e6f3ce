// SPDX-License-Identifier: Apache-2.0
// Drops files' pages from the system's memory, so that they are read from the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// Returns the regular files of a store. These are the path itself, or all files below a folder, or the files that a
/// list or a pattern names. @throws UsageError if there are no such files.
std::vector<std::string> files_of_store(const std::string& path);

/// Writes back unwritten data and asks the system to drop the files' pages, including pages that this process has
/// mapped. Pages that another process has mapped stay. Returns the sum of the files' sizes in bytes. @throws
/// penstock::Error(io).
std::uint64_t drop_pages(const std::vector<std::string>& files);

/// Returns the bytes that were read from disks for this process so far; 0 if the system does not report them.
std::uint64_t disk_bytes_read();

}  // namespace penstock::cli
