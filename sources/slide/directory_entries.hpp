// The entries of a directory as they stand in the file: where an array lies is what libtiff does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "directory.hpp"

namespace penstock::slide {

/// How a TIFF file writes numbers.
struct FileForm {
  bool big_endian = false, big_tiff = false;
};

/// @throws Error(corrupt | io) for what does not begin as a TIFF file does.
FileForm read_form(int descriptor, const std::string& path);

/// @throws Error(corrupt | io), also for a first directory of so many entries that libtiff, which looks through all it
/// knows for each, would take long.
void check_first_directory(int descriptor, const std::string& path, const FileForm& form);

/// The array of that tag in the directory at `offset`; none where it isn't there, or is of no whole numbers.
/// @throws Error(corrupt | io).
std::optional<StoredArray> find_array(int descriptor, const std::string& path, const FileForm& form,
                                      std::uint64_t offset, std::uint16_t tag);

}  // namespace penstock::slide
