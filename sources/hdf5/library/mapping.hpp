#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// One mapping of a source's values, as a virtual dataset says it.
struct Mapping {
  std::string file, dataset;
  Handle to, from;
};

/// Of the list a dataset was created with. Under the lock. @throws Error(corrupt).
Mapping mapping_of(hid_t creation, std::size_t number);

/// A name of a mapping, as the library understands it: %b is the number of the block.
std::string name_of_block(const std::string& name, std::int64_t block);
bool has_block(const std::string& name);

}  // namespace penstock::hdf5
