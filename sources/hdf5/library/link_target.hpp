// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns the target of a soft or external link: "'/x'", or "'/x' of the file 'a.h5'". Returns an empty text if `name`
/// is not such a link. Call under the lock.
std::string link_target(hid_t within, const std::string& name);

/// Explains why the dataset `name` can't be opened, for example because a link's file is missing. Call under the lock,
/// after the library has failed to open the dataset.
std::string why_no_dataset(hid_t file, const std::string& name);

}  // namespace penstock::hdf5
