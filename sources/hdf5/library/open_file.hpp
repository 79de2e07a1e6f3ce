#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A file, open for reading through the driver. Under the lock of the library.
/// @throws Error(corrupt | io), without a file.
Handle open_file(const std::string& path);
/// One that a sink wrote: the errors say which.
Handle open_written_file(const std::string& path);

}  // namespace penstock::hdf5
