// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Opens a file for reading through the driver. Call under the lock of the library. @throws Error(corrupt | io); the
/// error does not name the file.
Handle open_file(const std::string& path);
/// Opens a file that a sink has written. Like `open_file`, but errors name the file.
Handle open_written_file(const std::string& path);

}  // namespace penstock::hdf5
