// SPDX-License-Identifier: Apache-2.0
#include "library/open_file.hpp"

#include <penstock/error.hpp>

#include "library/driver.hpp"
#include "library/errors.hpp"

namespace penstock::hdf5 {

Handle open_file(const std::string& path) {
  std::string said;
  Handle file = open_through_driver(path.c_str(), said);
  if (!file) {
    if (said.find("lock request") != std::string::npos)
      throw Error(Errc::io, said +
                                "; another process has the file open for writing, or the file system knows no locks: "
                                "then set HDF5_USE_FILE_LOCKING=FALSE in the environment");
    if (H5Fis_hdf5(path.c_str()) == 0) throw Error(Errc::corrupt, "this is no HDF5 file");
    throw Error(Errc::corrupt, "the file can't be opened, as where it was cut short: " + said);
  }
  return file;
}

Handle open_written_file(const std::string& path) {
  try {
    return open_file(path);
  } catch (const Error& error) {
    throw error_in(path, error.code(), error.cause());
  }
}

}  // namespace penstock::hdf5
