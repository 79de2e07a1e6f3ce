#pragma once

#include <cstdint>
#include <string>

#include "library/driver.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// A file that another one names.
struct OtherFile {
  std::string path;     ///< where it was found, else its name as it is given
  std::string problem;  ///< why it can't be read; empty: it can
  FileState state;
  Handle file;  ///< of HDF5, open
};

/// What kind of naming it is: each has its own variable in the environment.
enum class NamedBy : std::uint8_t { virtual_dataset, link };

/// The HDF5 file that the open file `by` names, looked for where the library looks. Under the lock.
OtherFile open_named_file(const std::string& name, hid_t by, NamedBy how);
/// The file of raw bytes that a dataset of `by` names, looked for where the library looks. Under the lock.
OtherFile find_raw_file(const std::string& name, hid_t by);

/// The name under which a file, or the file of an object, was opened. Under the lock.
std::string file_name_of(hid_t object);
/// What is known of a file by its name; an inode of 0 where there is none.
FileState state_of(const std::string& path) noexcept;

}  // namespace penstock::hdf5
