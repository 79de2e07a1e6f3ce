#pragma once

#include <string>

namespace penstock::hdf5 {

/// The program that reads files that are not trusted: `wanted` where that is not empty, else PENSTOCK_HDF5_READER of
/// the environment, else where it is installed beside this library, or was built. @throws Error(not_found).
std::string find_reader(const std::string& wanted);

}  // namespace penstock::hdf5
