// The entries of a directory as they stand in the file: where an array lies is what libtiff does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "file/level.hpp"

namespace penstock::slide {

/// How a TIFF file writes numbers.
struct FileForm {
  bool big_endian = false, big_tiff = false;
};

/// @throws Error(corrupt | io) for what does not begin as a TIFF file does.
FileForm read_form(int descriptor, const std::string& path);

/// Where a file's directories lie.
struct DirectoryChain {
  std::vector<std::uint64_t> offsets;  ///< the first one, and those that follow it
  std::string broken_by;               ///< why the chain is not followed to its end; empty: it is
};

/// @throws Error(corrupt | io) where the first directory can't be found, and for one of so many entries that libtiff,
/// which looks through all it knows for each, would take long. What is wrong with a later one ends the chain.
DirectoryChain find_directories(int descriptor, const std::string& path, const FileForm& form);

/// @throws Error(corrupt | io) for a directory that can't be read, or has too many entries.
void check_directory(int descriptor, const std::string& path, const FileForm& form, std::uint64_t offset);

/// The array of that tag in the directory at `offset`; none where it isn't there, or is of no whole numbers.
/// @throws Error(corrupt | io).
std::optional<StoredArray> find_array(int descriptor, const std::string& path, const FileForm& form,
                                      std::uint64_t offset, std::uint16_t tag);

}  // namespace penstock::slide
