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

/// Where the values of a dataset lie that are not in its own file, or not by its own index. The library takes what it
/// does not find for values that were never written; so each of these files is looked at first, and what was found is
/// held against what the library does.
struct Elsewhere {
  /// A piece of the values, in a file without a form of its own.
  struct RawPiece {
    std::uint64_t begin = 0, end = 0;  ///< bytes of the dataset
    std::size_t file = 0;              ///< of `files`
    std::uint64_t file_bytes = 0;      ///< that it had
  };

  /// Files other than its own, each once; those that links lead through, too. Of those that are missing, the names.
  std::vector<std::string> files;
  /// Names of those that would be next where it grows with files by number.
  std::vector<std::string> absent;
  RowFaults faults;
  std::vector<std::string> told;  ///< what is no fault and yet to be known, in sentences

  /// Places where no file could be opened while these were looked for, in their order.
  std::vector<std::string> unopened;
  std::vector<FileState> states;  ///< of the files that were found, by their device and inode
  std::vector<RawPiece> raw;      ///< in their order
  /// Bytes of files without a form of their own that its sources have values in, by their places in `files`.
  std::map<std::size_t, std::uint64_t> raw_below;
  std::uint64_t row_bytes = 0;
  bool converted = false;  ///< some source has another type
  /// Where no mapping has them values may be left as they are in memory: the library fills them only where the mappings
  /// of what is read have fewer values than that together, and some overlap.
  bool unfilled = false;
  /// Sources that grow with sources of their own: the library knows how large they are while they are open, and else
  /// takes the size that was stored.
  std::vector<Handle> growing;

  /// @throws Error(corrupt) where one of these rows can't be read.
  void require_rows(std::uint64_t first, std::uint64_t count) const;
  /// After they were read. @throws Error(io) where the library can't have read what was looked at. `lost_too`: files
  /// that could not be opened before may be missing.
  void require_unchanged(const OpensNoted& opens, std::uint64_t first, std::uint64_t count, bool lost_too) const;

 private:
  std::string lost_now(const OpensNoted& opens, bool lost_too) const;

  mutable std::string changed_;  ///< what is open and was changed stays so
};

/// Looks at the files that a dataset of an open file lies in; `opens` has noted what was opened since before it was
/// opened itself. None where all is its file's own. Work is linear in what the files say. Under the lock.
/// @throws Error(not_found) where it can't be told how many rows there are.
std::optional<Elsewhere> look_elsewhere(hid_t file, hid_t dataset, const OpensNoted& opens);

}  // namespace penstock::hdf5
