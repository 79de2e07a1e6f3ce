// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns the target of a link that does not lead to an object of its own file: "file 'a.h5', '/x'", or "'/x'". Empty
/// for any other name. Call under the lock.
std::string link_target(hid_t within, const std::string& name);

/// Explains why a file has no dataset of that name that can be opened: for example a broken link, with the missing
/// file. Call under the lock, after the library has failed.
std::string why_no_dataset(hid_t file, const std::string& name);

}  // namespace penstock::hdf5
