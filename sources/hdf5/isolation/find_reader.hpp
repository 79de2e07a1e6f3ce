// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::hdf5 {

/// Finds the program that reads untrusted files: `wanted` if that is not empty, else PENSTOCK_HDF5_READER of the
/// environment.
/// Else it looks, in this order:
/// - next to this library, or to a program that contains it;
/// - next to `header`, the public header as the user's compiler found it;
/// - in the build folder, for what is in that folder;
/// - below the configured prefix.
/// @throws Error(not_found) with the places that were tried.
std::string find_reader(const std::string& wanted, const std::string& header);

}  // namespace penstock::hdf5
