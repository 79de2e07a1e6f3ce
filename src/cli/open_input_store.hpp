#pragma once

#include <string>

#include "input_store.hpp"

namespace penstock::cli {

/// Opens what is there as what it looks like. @throws penstock::Error, UsageError.
OpenedStore open_input_store(const std::string& path, const InputStoreOptions& options);

}  // namespace penstock::cli
