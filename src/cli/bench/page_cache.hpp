// Files that are to be read from the disk, though the system has them in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// The regular files of a store: the path itself, or all below that folder, or those that a list or pattern names.
/// @throws UsageError where there are none.
std::vector<std::string> files_of_store(const std::string& path);

/// Writes back what is unwritten, and asks the system to forget the files' pages, those too that this process has
/// mapped. Pages that another process has mapped stay. Returns the files' bytes. @throws penstock::Error(io).
std::uint64_t drop_pages(const std::vector<std::string>& files);

/// Bytes that this process has had read from disks so far; 0 where the system does not tell.
std::uint64_t disk_bytes_read();

}  // namespace penstock::cli
