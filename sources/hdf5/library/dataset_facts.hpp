// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "library/access.hpp"

namespace penstock::hdf5 {

/// Lists all datasets of a file, in the order of their paths' bytes, then links to other files and broken links. Call
/// under the lock. @throws Error(corrupt); Error(limit_exceeded) if groups are nested more than 100 deep.
std::vector<ListedDataset> datasets_in(hid_t file);

/// Returns facts about an open dataset and its type. Call under the lock. @throws Error(corrupt).
DatasetFacts facts_of(hid_t file, hid_t dataset, hid_t type);

}  // namespace penstock::hdf5
