#pragma once

#include <string>

namespace penstock::hdf5 {

/// The program that reads files that are not trusted: `wanted` where that is not empty, else PENSTOCK_HDF5_READER of
/// the environment. Else where it is installed beside this library or a program that holds it, then beside `header`,
/// the public header as the user's compiler found it, then, for what lies in the build folder, there, then below the
/// prefix that was configured. @throws Error(not_found) with the places that were tried.
std::string find_reader(const std::string& wanted, const std::string& header);

}  // namespace penstock::hdf5
