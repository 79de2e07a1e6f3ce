// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stores/input_store.hpp"

namespace penstock::cli {

/// Opens the path as the kind of store that it looks like. If a folder of HDF5 files or slides has other files, sets
/// `passed_over` to a line about them. @throws penstock::Error, UsageError.
OpenedStore open_input_store(const InputPath& path, const InputStoreOptions& options, std::string& passed_over);

}  // namespace penstock::cli
