#pragma once

#include <string>

#include "store.hpp"

namespace penstock::cli {

/// Opens what is there as what it looks like. @throws penstock::Error, UsageError.
OpenedStore open_store(const std::string& path, const StoreOptions& options);

}  // namespace penstock::cli
