// SPDX-License-Identifier: Apache-2.0
// Drops files' pages from the system's memory, so that they are read from the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// Returns the files of a store. If the path is a folder, these are the regular files below it that stores don't skip
/// (`is_skipped`). If the path is a file, it is this file. A MIRAX slide also has the files of the folder beside it. If
/// the path is a list of stores, these are the list and the files of its stores. If the path is a pattern, these are
/// the files that match it. @throws UsageError if there are no such files.
std::vector<std::string> files_of_store(const std::string& path);

/// Writes back unwritten data and asks the system to drop the files' pages, including pages that this process has
/// mapped. Pages that another process has mapped stay. Returns the sum of the files' sizes in bytes. @throws
/// penstock::Error(io).
std::uint64_t drop_pages(const std::vector<std::string>& files);

/// Returns the bytes that were read from disks for this process so far; 0 if the system does not report them.
std::uint64_t disk_bytes_read();

}  // namespace penstock::cli
