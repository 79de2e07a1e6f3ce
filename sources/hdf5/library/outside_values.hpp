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

/// Where the values of a dataset are, if they are not all in its own file. The library treats values that it does not
/// find as never written, and reports no error. So the other files are checked when the dataset is opened. After a
/// read, the files that the library has opened are compared with the checked ones.
struct OutsideValues {
  /// The dataset's values in one raw file.
  struct RawPiece {
    std::uint64_t begin = 0, end = 0;  ///< the range of the dataset's bytes
    std::size_t file = 0;              ///< index in `files`
    std::uint64_t file_bytes = 0;      ///< size of the file when it was checked
  };

  /// Paths of the other files, each once. They include missing files, and the files through which links lead.
  std::vector<std::string> files;
  /// If the dataset grows with numbered files: the names of the files that would come next.
  std::vector<std::string> absent;
  RowFaults faults;
  std::vector<std::string> told;  ///< remarks that are not faults, in sentences

  /// Paths at which no file could be opened during the check, sorted.
  std::vector<std::string> unopened;
  std::vector<FileState> states;  ///< states of the files that were found, sorted by device and inode
  std::vector<RawPiece> raw;      ///< in the order of the dataset's bytes
  /// If the dataset is virtual: sizes in bytes of the raw files that have values of its source datasets. The keys are
  /// indices in `files`.
  std::map<std::size_t, std::uint64_t> raw_below;
  std::uint64_t row_bytes = 0;
  bool converted = false;  ///< a source dataset has a different type than the virtual dataset that maps it
  /// Whether a read may leave values without a mapping unwritten in memory. The library fills these values only if the
  /// mappings together have fewer values than are read. If mappings overlap, they may not have fewer.
  bool unfilled = false;
  /// Source datasets that grow with their own sources. They stay open, because the library knows their true size only
  /// while they are open. Otherwise it uses the stored size.
  std::vector<Handle> growing;

  /// @throws Error(corrupt) if one of the `count` rows from `first` on can't be read.
  void require_rows(std::uint64_t first, std::uint64_t count) const;
  /// Call this after the rows were read. @throws Error(io) if one of the files was changed, cut short or lost since the
  /// check. `lost_too`: files that could not be opened during the check may still be missing.
  void require_unchanged(const OpenRecorder& opens, std::uint64_t first, std::uint64_t count, bool lost_too) const;

 private:
  std::string lost_now(const OpenRecorder& opens, bool lost_too) const;

  mutable std::string changed_;  ///< the first change that was found; stays set
};

/// Checks the other files that have values of a dataset. `opens` must have been made before the dataset was opened.
/// Returns none if all values are in the dataset's own file. The work is linear in the files' contents. Call under the
/// lock. @throws Error(not_found) if the number of rows can't be determined.
std::optional<OutsideValues> find_outside_values(hid_t file, hid_t dataset, const OpenRecorder& opens);

}  // namespace penstock::hdf5
