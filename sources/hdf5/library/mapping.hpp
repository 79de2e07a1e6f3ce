// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// One mapping of a source's values, as a virtual dataset stores it.
struct Mapping {
  std::string file, dataset;
  Handle to, from;
};

/// Returns a mapping from the list that a dataset was created with. Call under the lock. @throws Error(corrupt).
Mapping mapping_of(hid_t creation, std::size_t number);

/// Returns a name of a mapping as the library resolves it: %b is the number of the block.
std::string name_of_block(const std::string& name, std::int64_t block);
bool has_block(const std::string& name);

}  // namespace penstock::hdf5
