#pragma once

#include <string>

#include "stores/input_store.hpp"

namespace penstock::cli {

/// Opens what is there as what it looks like. `passed_over` becomes a line of what else lies in a folder of shards,
/// HDF5 files or slides; empty: nothing. @throws penstock::Error, UsageError.
OpenedStore open_input_store(const std::string& path, const InputStoreOptions& options, std::string& passed_over);

}  // namespace penstock::cli
