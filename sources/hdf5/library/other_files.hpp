// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "library/driver.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// A file that another file names.
struct OtherFile {
  /// Where the file was found, readable or not. If an HDF5 file was not found: its name, as the other file has it. If a
  /// file of raw bytes was not found: the path at which it was looked for.
  std::string path;
  std::string problem;  ///< why the file can't be read; empty: it can
  FileState state;      ///< state of the file, if it can be read
  Handle file;          ///< the open HDF5 file; not set for a file of raw bytes
};

/// What names the other file. For each kind, the library has an environment variable with folders in which it looks.
enum class NamedBy : std::uint8_t { virtual_dataset, link };

/// Opens the HDF5 file that the open file `by` names, in the places where the library looks. Call under the lock.
OtherFile open_named_file(const std::string& name, hid_t by, NamedBy how);
/// Finds the file of raw bytes that a dataset of `by` names, in the places where the library looks. Call under the
/// lock.
OtherFile find_raw_file(const std::string& name, hid_t by);

/// Returns the name under which a file was opened. `object`: the file, or an object in it. Call under the lock.
std::string file_name_of(hid_t object);
/// Returns the state of the file at `path`. The inode is 0 if there is no such file.
FileState state_of(const std::string& path) noexcept;

}  // namespace penstock::hdf5
