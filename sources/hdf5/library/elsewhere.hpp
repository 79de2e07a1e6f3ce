// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "library/driver.hpp"
#include "library/other_files.hpp"
#include "library/row_faults.hpp"

namespace penstock::hdf5 {

/// Where the values of a dataset are, if not in its own file, or not through its own index. The library treats values
/// that it does not find as never written. So each of these files is looked at first, and the findings are compared
/// with what the library does.
struct Elsewhere {
  /// A piece of the values, in a raw file.
  struct RawPiece {
    std::uint64_t begin = 0, end = 0;  ///< bytes of the dataset
    std::size_t file = 0;              ///< index in `files`
    std::uint64_t file_bytes = 0;      ///< size of the file when it was looked at
  };

  /// Other files, each once, including the files that links go through. For missing files, their names.
  std::vector<std::string> files;
  /// Names of the files that would be next if it grows with numbered files.
  std::vector<std::string> absent;
  RowFaults faults;
  std::vector<std::string> told;  ///< remarks that are not faults, in sentences

  /// Places where no file could be opened during the search, in order.
  std::vector<std::string> unopened;
  std::vector<FileState> states;  ///< states of the files that were found, by device and inode
  std::vector<RawPiece> raw;      ///< in order
  /// Sizes, in bytes, of the raw files with its sources' values, by index in `files`.
  std::map<std::size_t, std::uint64_t> raw_below;
  std::uint64_t row_bytes = 0;
  bool converted = false;  ///< some source has a different type
  /// Values without a mapping may stay unwritten in memory. The library fills them only if the mappings of what is read
  /// have fewer values than that together, and some mappings overlap.
  bool unfilled = false;
  /// Sources that grow with their own sources. The library knows their size while they are open; otherwise it takes the
  /// stored size.
  std::vector<Handle> growing;

  /// @throws Error(corrupt) if one of these rows can't be read.
  void require_rows(std::uint64_t first, std::uint64_t count) const;
  /// Call after the rows were read. @throws Error(io) if the library can't have read the files that were looked at.
  /// `lost_too`: files that could not be opened before may be missing.
  void require_unchanged(const OpensNoted& opens, std::uint64_t first, std::uint64_t count, bool lost_too) const;

 private:
  std::string lost_now(const OpensNoted& opens, bool lost_too) const;

  mutable std::string changed_;  ///< what changed in an open file; stays set
};

/// Looks at the files that a dataset of an open file is in. `opens` must have noted all files opened since before this
/// file was opened. None if everything is in its own file. Work is linear in the files' contents. Call under the lock.
/// @throws Error(not_found) if the number of rows can't be determined.
std::optional<Elsewhere> look_elsewhere(hid_t file, hid_t dataset, const OpensNoted& opens);

}  // namespace penstock::hdf5
