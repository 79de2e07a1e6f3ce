// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::hdf5 {

/// Finds the program that reads untrusted files. Returns `wanted` if that is not empty, else the environment variable
/// PENSTOCK_HDF5_READER if that is set. Otherwise looks for the program, in this order:
/// - in folders relative to this library, or to the program that contains it;
/// - in a folder relative to `header`, the path of the public header that the user's compiler found;
/// - in the build folder, if this library or program is in that folder;
/// - below the configured prefix.
/// In the last three places, looks only for a program that belongs to root or to this user.
/// @throws Error(not_found) with the places that were tried.
std::string find_reader(const std::string& wanted, const std::string& header);

}  // namespace penstock::hdf5
