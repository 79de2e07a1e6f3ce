#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Where a link leads that is none to an object of its own file: "file 'a.h5', '/x'", or "'/x'". Empty for any other
/// name. Under the lock.
std::string link_target(hid_t within, const std::string& name);

/// Why a file has no dataset of that name that can be opened: a link that leads nowhere, with the file that is missing.
/// After the library has failed. Under the lock.
std::string why_no_dataset(hid_t file, const std::string& name);

}  // namespace penstock::hdf5
