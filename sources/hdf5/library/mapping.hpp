// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// One mapping of a virtual dataset: which elements of a source (`from`) become which elements of the dataset (`to`).
struct Mapping {
  std::string file, dataset;
  Handle to, from;
};

/// Returns mapping `number` of a virtual dataset's creation list. Call under the lock. @throws Error(corrupt).
Mapping mapping_of(hid_t creation, std::size_t number);

/// Returns the name of the file or dataset from which block `block` of a mapping comes. Like the library, replaces `%b`
/// in `name` by the number of the block, and `%%` by `%`.
std::string name_of_block(const std::string& name, std::int64_t block);
/// Returns whether the name has a `%b`.
bool has_block(const std::string& name);

}  // namespace penstock::hdf5
