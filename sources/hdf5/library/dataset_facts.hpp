#pragma once

#include <vector>

#include "library/access.hpp"

namespace penstock::hdf5 {

/// Every dataset, in the order of their paths' bytes, then links to other files and to nothing. Under the lock. @throws
/// Error(corrupt).
std::vector<ListedDataset> datasets_in(hid_t file);

/// Facts of an open dataset and its type. Under the lock. @throws Error(corrupt).
DatasetFacts facts_of(hid_t file, hid_t dataset, hid_t type);

}  // namespace penstock::hdf5
