// SPDX-License-Identifier: Apache-2.0
// Is the program found that reads HDF5 files which are not trusted? Its answer for what is none says so.
#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>

#include <cstdio>
#include <fstream>
#include <string>

int main() {
  std::ofstream("none.h5") << "this is a text";
  try {
    const auto pipeline = penstock::from(penstock::Hdf5{.path = "none.h5", .isolate = true});
  } catch (const penstock::Error& error) {
    std::printf("penstock %d.%d.%d: %s\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH,
                error.what());
    return std::string(error.what()).find("this is no HDF5 file") != std::string::npos ? 0 : 1;
  }
  return 1;
}
