// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "library/driver.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// A file that another file names.
struct OtherFile {
  std::string path;     ///< where the file was found; otherwise the name as given
  std::string problem;  ///< why the file can't be read; empty: it can
  FileState state;
  Handle file;  ///< the open file, if it is an HDF5 file
};

/// What names the other file. For each kind, the library has an environment variable with folders in which it looks.
enum class NamedBy : std::uint8_t { virtual_dataset, link };

/// Opens the HDF5 file that the open file `by` names, in the places where the library looks. Call under the lock.
OtherFile open_named_file(const std::string& name, hid_t by, NamedBy how);
/// Finds the file of raw bytes that a dataset of `by` names, in the places where the library looks. Call under the
/// lock.
OtherFile find_raw_file(const std::string& name, hid_t by);

/// Returns the name under which a file was opened. `object`: the file, or an object of it. Call under the lock.
std::string file_name_of(hid_t object);
/// Returns the state of a file by its name, with inode 0 if the file does not exist.
FileState state_of(const std::string& path) noexcept;

}  // namespace penstock::hdf5
